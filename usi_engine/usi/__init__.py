"""The USI protocol's text: commands, options, output. Nothing here keeps state."""
