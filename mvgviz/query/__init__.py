"""A dataset with ranges, what is asked of it, and how far one neighbour moves the answer."""
