"""Panels of the lesson and its notes."""
