"""The presenter's view."""
