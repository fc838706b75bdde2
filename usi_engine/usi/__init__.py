"""The text of the USI protocol: commands, options, output. Nothing here knows the game or the search."""
