"""One choice of everything, and what it works out to."""
