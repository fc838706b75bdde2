"""The rules: positions, legal moves, exchanges, sfen."""
