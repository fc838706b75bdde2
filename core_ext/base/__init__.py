"""Memory, processor features, time, stop flag: what is not about shogi."""
