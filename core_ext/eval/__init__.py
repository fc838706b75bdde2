"""The value of a position."""
