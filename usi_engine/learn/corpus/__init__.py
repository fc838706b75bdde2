"""Training positions: sources, corpora on disk, batches."""
