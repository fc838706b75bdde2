"""Training of the evaluation: games -> corpus -> weights."""
