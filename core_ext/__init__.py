"""The compiled core: the rules of shogi, evaluation, search, mate search and training."""
