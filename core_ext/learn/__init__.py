"""Kernels that learn the evaluation's weights."""
