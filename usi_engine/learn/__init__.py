"""Learning the evaluation: games -> corpus -> weights."""
