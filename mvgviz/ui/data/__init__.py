"""Panels of the page Data & query."""
