"""The NNUE evaluation against a plain reference."""
