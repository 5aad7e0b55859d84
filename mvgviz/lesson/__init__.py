"""Numbers and right answers of the lesson."""
