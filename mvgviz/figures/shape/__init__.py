"""Pictures of the page Noise shape: numbers, then a figure."""
