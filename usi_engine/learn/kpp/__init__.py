"""Training of KPP weights."""
