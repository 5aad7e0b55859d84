"""A study in one file: everything that a session knows but the data and the noise."""
