"""The rule drawn: what one record can change inside the ellipse of the noise; used by several pages."""
