"""Pictures of the page Privacy spent: numbers, then a figure."""
