"""Pictures of the lesson: numbers, then a figure."""
