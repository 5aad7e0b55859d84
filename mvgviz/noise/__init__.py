"""Gaussian noise on a matrix and the privacy it gives, in numbers alone."""
