"""The rules of shogi as Python sees them. Moves are USI text (`7g7f`, `7g7f+`, `P*5e`); squares are USI text (`5e`)."""

BLACK: int
WHITE: int

class Board:
    """A position with the whole game behind it. Black (sente) moves first.

    Every error is a ValueError that quotes the offending text, and leaves the board as it was.
    """

    def __init__(self, sfen: str = ...) -> None:
        """Set up `sfen` (3 or 4 fields; the words `startpos` and `sfen ...` are understood too)."""
    def copy(self) -> Board:
        """An independent board with the same position and the same game behind it."""
    @property
    def turn(self) -> int:
        """BLACK or WHITE."""
    @property
    def ply(self) -> int:
        """Number of the move to come, as an sfen counts it (1 at the start position)."""
    @property
    def key(self) -> int:
        """64-bit key of board, hands and side to move."""
    def set_sfen(self, sfen: str) -> None: ...
    def sfen(self) -> str:
        """The position in four fields, hands in the order R B G S N L P."""
    def push(self, move: str) -> None:
        """Play a legal move (useless non-promotions are legal). ValueError names an illegal or unreadable one."""
    def pop(self) -> str:
        """Take the last move back and return it. IndexError where none was played."""
    def moves(self) -> list[str]:
        """The moves pushed since the position was set up."""
    def legal_moves(self, include_all: bool = ...) -> list[str]:
        """Legal moves; with `include_all`, the non-promotions of pawn, lance, bishop and rook that never help too."""
    def is_legal(self, move: str) -> bool:
        """Whether this text is a legal move here (useless non-promotions count as legal)."""
    def checking_moves(self, include_all: bool = ...) -> list[str]: ...
    def is_check(self) -> bool:
        """Whether the side to move is in check."""
    def checkers(self) -> list[str]:
        """Squares of the pieces that give check to the side to move."""
    def gives_check(self, move: str) -> bool: ...
    def mate_in_one(self) -> str | None:
        """A move that mates at once, or None."""
    def mate_in_three(self, max_escapes: int = ...) -> list[str]:
        """A mate in three plies by checks where there is none in one: check, answer, mate; [] where none is found.

        Checks that seem to leave the king more than `max_escapes` squares are not tried, nor useless non-promotions.
        """
    def repetition(self) -> str:
        """For the side to move: `none`, `draw` (fourth time), `win` (the opponent gave perpetual check), `lose`."""
    def can_declare(self, rule: str = ...) -> bool:
        """Whether the side to move wins by declaration; `rule` is a word of the option EnteringKingRule.

        For TryRule: whether a king move to 5a (White: 5i) is legal now, see `declaration_move`.
        """
    def declaration_move(self, rule: str = ...) -> str | None:
        """`win` where the side may declare, the king's move under TryRule, or None."""
    def see(self, move: str) -> int:
        """Static exchange value of a legal move in centipawns."""
    def piece_at(self, square: str) -> str | None:
        """sfen letter(s) of the piece there: `P` black pawn, `+r` white dragon; None for an empty square."""
    def hand(self, color: int) -> dict[str, int]:
        """Number of each kind in hand, by letter (`P L N S G B R`); kinds not held are left out."""
    def king_square(self, color: int) -> str | None: ...
    def perft(self, depth: int) -> int:
        """Number of leaves of the tree of all legal moves, without the GIL."""
    def ascii(self) -> str: ...
    def kanji(self) -> str: ...
    def __str__(self) -> str: ...
