"""Panels of the page Paper."""
