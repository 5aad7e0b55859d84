"""Panels of the page Compare."""
