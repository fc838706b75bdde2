"""`usi_engine mate`: mate problems from positions, files and game records."""
