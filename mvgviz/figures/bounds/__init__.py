"""Pictures of the page Bounds: numbers, then a figure."""
