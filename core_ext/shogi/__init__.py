"""The rules of shogi: positions, legal moves, static exchange evaluation, sfen."""
