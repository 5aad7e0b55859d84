"""Pictures of the page Compare: numbers, then a figure."""
