"""Memory, processor features, time and the stop flag: nothing here is about shogi."""
