"""Panels of the page Release & report."""
