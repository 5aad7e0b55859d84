"""From a budget to a noise design, and what a design gives away."""
