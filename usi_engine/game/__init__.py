"""A game in a GUI: from each line of USI to `bestmove`."""
