"""Pictures of the page Data & query: numbers, then a figure."""
