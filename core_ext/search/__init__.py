"""The alpha-beta search of one depth."""
