"""Panels of the page Noise shape."""
