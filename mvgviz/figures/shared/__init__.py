"""What several pages draw: the theme, axes, maps and the ellipse."""
