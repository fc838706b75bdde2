"""The trainer of networks (NNUE): Adam on batches of training positions."""
