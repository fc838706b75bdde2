"""Mate search: mate in one and in three, df-pn, the line of a mate."""
