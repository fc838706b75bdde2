"""Positions of shogi and their legal moves, for Python.

Moves and squares are USI text: `7g7f`, `7g7f+`, `P*5e`; `5e`. Colours are BLACK (sente, moves first) and WHITE.

    >>> board = Board()
    >>> board.push("7g7f")
    >>> board.sfen()
    'lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2'
"""

from core_ext.shogi.bitboard cimport Bitboard, pop, some
from core_ext.shogi.hand cimport hand_count
from core_ext.mate.mate_in_one cimport mate_in_one, mate_in_three
from core_ext.shogi.movegen cimport CheckInfo, generate_checks, generate_legal, gives_check, init_check_info
from core_ext.shogi.perft cimport perft
from core_ext.shogi.position cimport (
    NO_DECLARATION, REPETITION_DRAW, REPETITION_LOSS, REPETITION_WIN, RULE_24, RULE_24_HANDICAP, RULE_27,
    RULE_27_HANDICAP, RULE_TRY, allocate_position, can_declare, copy_position, do_move, free_position, full_key,
    game_repetition, in_check, reserve_plies, try_move, undo_move,
)
from core_ext.shogi.see cimport see
from core_ext.shogi.sfen cimport (
    format_move, format_sfen, format_square, parse_move, parse_sfen, parse_square, piece_letters,
)
from core_ext.shogi.types cimport (
    GOLD, MAX_MOVES, Move, NO_MOVE, NO_SQUARE, PAWN, make_piece, make_square, uint64_t,
)

BLACK = 0
WHITE = 1

_START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
_RULES = {
    "NoEnteringKing": NO_DECLARATION, "CSARule24": RULE_24, "CSARule24H": RULE_24_HANDICAP, "CSARule27": RULE_27,
    "CSARule27H": RULE_27_HANDICAP, "TryRule": RULE_TRY,
}
_REPETITIONS = {REPETITION_DRAW: "draw", REPETITION_WIN: "win", REPETITION_LOSS: "lose"}
_KANJI = {"P": "歩", "L": "香", "N": "桂", "S": "銀", "G": "金", "B": "角", "R": "飛", "K": "玉",
          "+P": "と", "+L": "杏", "+N": "圭", "+S": "全", "+B": "馬", "+R": "龍"}
_NUMERALS = "〇一二三四五六七八九"
_HAND_TYPES = "RBGSNLP"


cdef int declaration_rule(str rule) except -1:
    """The rule named by a value of the USI option EnteringKingRule."""
    if rule not in _RULES:
        raise ValueError(f"unknown entering-king rule '{rule}'; one of {', '.join(_RULES)}")
    return _RULES[rule]


cdef int checked_color(object color) except -1:
    if color not in (BLACK, WHITE):
        raise ValueError(f"not a colour: {color!r}")
    return color


cdef list names_of(const Move *first, const Move *last):
    cdef list names = []
    while first != last:
        names.append(format_move(first[0]))
        first += 1
    return names


cdef class Board:
    """A position together with the moves that led to it.

    `Board(sfen="startpos")` sets up an sfen of 3 or 4 fields; `startpos` and a leading `sfen` are accepted, too. Text
    that is no sfen, no legal move or no square raises a ValueError that quotes it and leaves the board as it was.
    """

    def __cinit__(self, *args, **kwargs):
        allocate_position(&self.pos, 64)
        self.played = []

    def __init__(self, sfen: str = "startpos"):
        self.set_sfen(sfen)

    def __dealloc__(self):
        free_position(&self.pos)

    def copy(self):
        """An independent copy of the position and its moves."""
        cdef Board other = Board.__new__(Board)
        copy_position(&other.pos, &self.pos, 64)
        other.played = list(self.played)
        return other

    def set_sfen(self, sfen: str):
        """Set up a position as the constructor does; the moves before are forgotten."""
        cdef Board spare = Board.__new__(Board)
        text = sfen.strip()
        if text.startswith("sfen "):
            text = text[5:]
        parse_sfen(&spare.pos, _START if text == "startpos" else text)
        copy_position(&self.pos, &spare.pos, 64)
        self.played = []

    @property
    def turn(self):
        """The side to move: BLACK or WHITE."""
        return self.pos.side

    @property
    def ply(self):
        """Number of the next move, as an sfen counts it: 1 at the start position."""
        return self.pos.ply

    @property
    def key(self):
        """64-bit hash key of board, hands and side to move."""
        return full_key(&self.pos)

    def sfen(self):
        """The position as an sfen of four fields, hands in the order R B G S N L P."""
        return format_sfen(&self.pos)

    def push(self, move: str):
        """Make a legal move, dominated or not. ValueError for any other text."""
        cdef int parsed = parse_move(&self.pos, move)
        reserve_plies(&self.pos, 1)
        do_move(&self.pos, <Move>parsed)
        self.played.append(parsed)

    def pop(self):
        """Unmake the last move and return it. IndexError if no move has been pushed."""
        if not self.played:
            raise IndexError("no move to take back")
        undo_move(&self.pos)
        return format_move(<Move><int>self.played.pop())

    def moves(self):
        """The moves pushed since the position was set up."""
        return [format_move(<Move><int>move) for move in self.played]

    def legal_moves(self, include_all: bool = False):
        """The legal moves, without the dominated ones unless `include_all`.

        A dominated move is a non-promotion that is never better than the promotion: of a pawn, bishop or rook, or of a
        lance to the second rank.
        """
        cdef Move moves[MAX_MOVES]
        return names_of(moves, generate_legal(&self.pos, moves, include_all))

    def is_legal(self, move: str):
        """Whether the text is a legal move here, dominated or not."""
        try:
            parse_move(&self.pos, move)
        except ValueError:
            return False
        return True

    def checking_moves(self, include_all: bool = False):
        """The legal moves that give check, without the dominated ones unless `include_all`."""
        cdef Move moves[MAX_MOVES]
        return names_of(moves, generate_checks(&self.pos, moves, include_all))

    def is_check(self):
        """Whether the side to move is in check."""
        return in_check(&self.pos)

    def checkers(self):
        """Squares of the pieces that give check to the side to move."""
        cdef Bitboard checkers = self.pos.state.checkers
        squares = []
        while some(checkers):
            squares.append(format_square(pop(&checkers)))
        return squares

    def gives_check(self, move: str):
        """Whether a legal move gives check. ValueError for any other text."""
        cdef CheckInfo info
        cdef int parsed = parse_move(&self.pos, move)
        init_check_info(&self.pos, &info)
        return gives_check(&self.pos, &info, <Move>parsed)

    def mate_in_one(self):
        """A move that mates at once, or None. Exact."""
        cdef Move move = mate_in_one(&self.pos)
        return None if move == NO_MOVE else format_move(move)

    def mate_in_three(self, max_escapes: int = 8):
        """A mate in three plies by checks, as [check, evasion, mate]; [] if none is found or there is a mate in one.

        Not exact: dominated moves, and checks after which the king seems to have more than `max_escapes` escape
        squares, are not tried.
        """
        cdef Move line[3]
        cdef uint64_t made = 0
        reserve_plies(&self.pos, 3)
        return names_of(line, line + 3) if mate_in_three(&self.pos, max_escapes, line, &made) else []

    def repetition(self):
        """Fourfold repetition, for the side to move: `none`, `draw`, `win` or `lose`.

        `win` means that the opponent gave perpetual check, `lose` that the side to move did.
        """
        return _REPETITIONS.get(game_repetition(&self.pos), "none")

    def can_declare(self, rule: str = "CSARule27"):
        """Whether the side to move can win by declaration (entering king) under `rule`.

        `rule` is a value of the USI option EnteringKingRule: NoEnteringKing, CSARule24, CSARule24H, CSARule27,
        CSARule27H or TryRule. For TryRule: whether the king's move to 5a (White: 5i) is legal, see `declaration_move`.
        """
        cdef int parsed = declaration_rule(rule)
        if parsed == RULE_TRY:
            return try_move(&self.pos) != NO_MOVE
        return can_declare(&self.pos, parsed)

    def declaration_move(self, rule: str = "CSARule27"):
        """`win` if the side to move can declare, the king's move under TryRule, or None."""
        if not self.can_declare(rule):
            return None
        return format_move(try_move(&self.pos)) if rule == "TryRule" else "win"

    def see(self, move: str):
        """Static exchange evaluation of a legal move, in centipawns for the side that moves.

        The balance of all captures on the move's square if each side stops when it likes; pins are ignored. ValueError
        for any other text.
        """
        cdef int parsed = parse_move(&self.pos, move)
        return see(&self.pos, <Move>parsed)

    def piece_at(self, square: str):
        """The sfen letters of the piece on a square: `P` black pawn, `+r` white dragon; None if it is empty."""
        cdef int piece = self.pos.board[parse_square(square)]
        return piece_letters(piece) if piece else None

    def hand(self, color: int):
        """The number of pieces in a colour's hand by letter (`P L N S B R G`); types not held are left out."""
        cdef int owner = checked_color(color), piece_type
        held = {}
        for piece_type in range(PAWN, GOLD + 1):
            number = hand_count(self.pos.state.hand[owner], piece_type)
            if number:
                held[piece_letters(make_piece(BLACK, piece_type))] = number
        return held

    def king_square(self, color: int):
        """The square of a colour's king, or None if it has none (mate problems)."""
        cdef int square = self.pos.king[checked_color(color)]
        return None if square == NO_SQUARE else format_square(square)

    def perft(self, depth: int):
        """The number of leaves of the tree of all legal moves, 0 to 64 plies deep. Releases the GIL."""
        cdef uint64_t leaves
        cdef int plies = depth
        cdef Board own = self.copy()    # other threads may change this one meanwhile
        if not 0 <= plies <= 64:
            raise ValueError(f"perft depth {depth} is not within 0 and 64")
        reserve_plies(&own.pos, plies)
        with nogil:
            leaves = perft(&own.pos, plies)
        return leaves

    def ascii(self):
        """The board and hands as text, with sfen letters; Black at the bottom."""
        rows = ["  9  8  7  6  5  4  3  2  1"]
        for rank in range(9):
            cells = [self._letters(make_square(file, rank), ".") for file in range(8, -1, -1)]
            rows.append("".join(f"{cell:>3}" for cell in cells) + "  " + "abcdefghi"[<Py_ssize_t>rank])
        hands = [self._ascii_hand(color) for color in (1, 0)]
        return "\n".join([f"White in hand: {hands[0]}"] + rows + [f"Black in hand: {hands[1]}"])

    def kanji(self):
        """The board and hands in Japanese, as shogi books print them; White's pieces are marked `v`."""
        rows = ["  ９ ８ ７ ６ ５ ４ ３ ２ １", "+---------------------------+"]
        for rank in range(9):
            cells = [self._kanji_cell(make_square(file, rank)) for file in range(8, -1, -1)]
            rows.append("|" + "".join(cells) + "|" + _NUMERALS[<Py_ssize_t>(rank + 1)])
        rows.append(rows[1])
        return "\n".join(["後手の持駒：" + self._kanji_hand(1)] + rows + ["先手の持駒：" + self._kanji_hand(0)])

    def __str__(self):
        return self.ascii()

    def __repr__(self):
        return f"Board('{self.sfen()}')"

    cdef str _letters(self, int square, str blank):
        cdef int piece = self.pos.board[square]
        return piece_letters(piece) if piece else blank

    def _ascii_hand(self, color: int):
        return " ".join(f"{letter}{number}" for letter, number in self.hand(color).items()) or "-"

    cdef str _kanji_cell(self, int square):
        letters = self._letters(square, "")
        if not letters:
            return " ・"
        return ("v" if letters.islower() else " ") + _KANJI[letters.upper()]

    def _kanji_hand(self, color: int):
        held = self.hand(color)
        names = [_KANJI[letter] + (str(held[letter]) if held[letter] > 1 else "")
                 for letter in _HAND_TYPES if letter in held]
        return " ".join(names) or "なし"
