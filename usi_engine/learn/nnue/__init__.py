"""Training of networks with our own kernels."""
