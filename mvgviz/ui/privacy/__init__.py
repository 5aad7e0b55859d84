"""Panels of the page Privacy spent."""
