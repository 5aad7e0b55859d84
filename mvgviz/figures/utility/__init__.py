"""Pictures of the page Utility: numbers, then a figure."""
