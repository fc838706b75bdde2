"""The KPP evaluation: king-piece-piece weights, summed incrementally."""
