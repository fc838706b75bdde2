"""Opening books: files in the formats of YaneuraOu, ShogiHome and Apery, and the choice of a move."""
