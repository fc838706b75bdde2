"""`usi_engine analyze` and `usi_engine suite`."""
