"""Repeated, resumable trials, and what may be concluded from them."""
