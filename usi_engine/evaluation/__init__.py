"""Evaluations on disk and in memory: which one an option names, and the file formats."""
