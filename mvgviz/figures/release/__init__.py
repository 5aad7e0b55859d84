"""Pictures of the page Release & report: numbers, then a figure."""
