"""Panels of the page Bounds."""
