"""Mate search: mate in one, df-pn, the line of a mate."""
