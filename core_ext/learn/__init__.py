"""Training of the evaluation's weights."""
