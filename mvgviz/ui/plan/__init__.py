"""Panels of the page Several questions."""
