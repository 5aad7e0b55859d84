"""Panels of the page Utility."""
