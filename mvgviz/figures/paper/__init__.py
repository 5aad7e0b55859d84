"""Pictures of the page Paper: numbers, then a figure."""
