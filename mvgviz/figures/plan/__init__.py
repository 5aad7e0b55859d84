"""Pictures of the page Several questions."""
