"""A game in a GUI: from a line of USI to `bestmove`."""
