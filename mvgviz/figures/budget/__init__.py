"""Pictures of the page Precision budget: numbers, then a figure."""
