"""Panels of the page Precision budget."""
