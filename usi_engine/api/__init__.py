"""The Python API: searches by this engine or by another USI engine."""
