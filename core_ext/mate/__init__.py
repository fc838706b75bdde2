"""Mate search: mate in one and in three, df-pn, mating lines."""
