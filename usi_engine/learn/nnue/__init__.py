"""Training of networks (nn.bin) with PyTorch."""
