"""Opening books: files in YaneuraOu's, ShogiHome's and Apery's formats, and the choice of a move from them."""
