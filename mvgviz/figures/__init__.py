"""Pictures: one file each, with a function for the numbers and one that draws them (a plotly Figure)."""
