"""Game records: read, analysed, written in other formats. Not needed in play; the extra `analysis` installs rsshogi."""
