"""The compiled core: rules and search of shogi."""
