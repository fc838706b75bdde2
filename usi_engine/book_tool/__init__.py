"""`usi_engine book`: makes opening books and shows their moves."""
