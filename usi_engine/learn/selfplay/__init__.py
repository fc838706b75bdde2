"""Games that the engine plays or scores for training."""
