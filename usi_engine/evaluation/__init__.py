"""Evaluations on disk and in memory: file formats, and the evaluation that an option names."""
