"""`usi_engine book`: makes opening books and shows what they hold."""
