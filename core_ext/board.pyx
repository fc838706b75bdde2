"""Positions of shogi and their legal moves, for Python.

Moves and squares are USI text: `7g7f`, `7g7f+`, `P*5e`; `5e`. Colours are BLACK (sente, moves first) and WHITE.
A move may also be given as its 16 bits, an int or an integer of numpy: bits 0 to 6 are the destination, bits 7 to 13
the origin, or 81 plus the type of a dropped piece (1 to 7 for P L N S B R G), bit 14 is the promotion. Squares are 0
for 1a, 1 for 1b, ... 80 for 9i, so 7g7f is 7739. A pass is 129. `move_to_usi` and `move_from_usi` convert.

Threads may share a Board: each call leaves it in a legal state, but another thread may change it between two calls.

    >>> board = Board()
    >>> board.push("7g7f")
    >>> board.sfen()
    'lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2'
"""

from typing import SupportsIndex

from libc.string cimport memcmp

from core_ext.shogi.bitboard cimport Bitboard, pop, some
from core_ext.shogi.diagram import ascii_diagram, kanji_diagram, svg_diagram
from core_ext.shogi.ending cimport find_end
from core_ext.shogi.hand cimport hand_count
from core_ext.mate.mate_in_one cimport mate_in_one, mate_in_three
from core_ext.shogi.movegen cimport (
    CheckInfo, generate_checks, generate_legal, generate_pseudo_legal, gives_check, has_legal_move, init_check_info,
    is_legal, perft,
)
from core_ext.shogi.ki2 import find_ki2, ki2_text, last_square
from core_ext.shogi.notation import KIF_PASS, csa_text, find_csa, flip_move, flip_sfen, kif_text
from core_ext.shogi.outcome import Outcome, Termination
from core_ext.shogi.packed cimport HCP, PSV, pack_position, unpack_position
from core_ext.shogi.position cimport (
    NO_DECLARATION, REPETITION_DRAW, REPETITION_LOSS, REPETITION_WIN, RULE_24, RULE_24_HANDICAP, RULE_27,
    RULE_27_HANDICAP, RULE_TRY, allocate_position, attackers, can_declare, copy_position, do_move, do_null,
    free_position, full_key, game_length, game_repetition, in_check, occupied, reserve_plies, to_move32,
    try_move, undo_move, undo_null,
)
from core_ext.shogi.see cimport see
from core_ext.shogi.sfen cimport (
    format_move, format_sfen, format_square, parse_move, parse_sfen, parse_square, piece_letters, word_of,
)
from core_ext.shogi.types cimport (
    GOLD, MAX_MOVES, Move, NO_MOVE, NO_SQUARE, NULL_MOVE, PAWN, SQUARES, dropped_type, from_square, is_drop, make_piece,
    uint64_t,
)

BLACK = 0
WHITE = 1
MoveLike = str | SupportsIndex  # USI text or 16 bits

_START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
_RULES = {
    "NoEnteringKing": NO_DECLARATION, "CSARule24": RULE_24, "CSARule24H": RULE_24_HANDICAP, "CSARule27": RULE_27,
    "CSARule27H": RULE_27_HANDICAP, "TryRule": RULE_TRY,
}
_TERMINATIONS = tuple(Termination)
_REPETITIONS = {REPETITION_DRAW: "draw", REPETITION_WIN: "win", REPETITION_LOSS: "lose"}


cdef int declaration_rule(str rule) except -1:
    """Return the rule named by a value of the USI option EnteringKingRule."""
    if rule not in _RULES:
        raise ValueError(f"unknown entering-king rule '{rule}': use one of {', '.join(_RULES)}")
    return _RULES[rule]


cdef int checked_color(object color) except -1:
    if color not in (BLACK, WHITE):
        raise ValueError(f"not a colour: {color!r}")
    return WHITE if color == WHITE else BLACK


cdef list names_of(const Move *first, const Move *last):
    cdef list names = []
    while first != last:
        names.append(format_move(first[0]))
        first += 1
    return names


cdef list squares_of(Bitboard squares):
    cdef list names = []
    while some(squares):
        names.append(format_square(pop(&squares)))
    return names


cdef str mover(const Position *pos, Move move):
    """Return the letters of the moving piece before the move."""
    return piece_letters(make_piece(pos.side, dropped_type(move)) if is_drop(move) else pos.board[from_square(move)])


cdef list played_moves(const Position *pos):
    """Return the moves since the set-up."""
    cdef int ply
    return [format_move(<Move>pos.states[ply].move) for ply in range(1, game_length(pos) + 1)]


cdef str undo_last(Position *pos):
    """Unmake the last move or pass and return its text."""
    cdef Move move = <Move>pos.state.move
    if move == NULL_MOVE:
        undo_null(pos)
    else:
        undo_move(pos)
    return format_move(move)


def move_to_usi(move):
    """Return the USI text of a move that is given as its 16 bits; ValueError if they are none."""
    return format_move(<Move>word_of(move))


def move_from_usi(move):
    """Return the 16 bits of a move in USI text, whatever the position; ValueError for any other text."""
    return word_of(move)


cdef Board unpacked(cls, data, int layout):
    cdef Board board = Board.__new__(cls)
    unpack_position(&board.pos, data, layout)
    return board


cdef class MoveList:
    """The moves of a board, generated anew by each use: call it for a list, iterate it, print it, ask `move in` it.

    Calls, iteration and `len` leave out dominated moves, `in` does not.
    """

    cdef Board board
    cdef bint pseudo
    cdef uint64_t key       # of the position whose moves `count` counts
    cdef Py_ssize_t count   # -1: none yet

    def __cinit__(self, Board board not None, bint pseudo=False):
        self.board, self.pseudo, self.count = board, pseudo, -1

    cdef Move *_generate(self, Move *moves, bint include_all) noexcept:
        if self.pseudo:
            return generate_pseudo_legal(&self.board.pos, moves, include_all)
        return generate_legal(&self.board.pos, moves, include_all)

    def __call__(self, include_all: bool = False):
        """Return the moves as a list, without dominated moves unless `include_all`."""
        cdef Move moves[MAX_MOVES]
        return names_of(moves, self._generate(moves, include_all))

    def __iter__(self):
        cdef Move moves[MAX_MOVES]
        cdef list found = names_of(moves, self._generate(moves, False))
        self.key, self.count = full_key(&self.board.pos), len(found)    # list() asks for the length, too
        return iter(found)

    def __len__(self):
        cdef Move moves[MAX_MOVES]
        if self.count < 0 or self.key != full_key(&self.board.pos):
            self.key, self.count = full_key(&self.board.pos), self._generate(moves, False) - moves
        return self.count

    def __contains__(self, move):
        cdef Move moves[MAX_MOVES]
        cdef Py_ssize_t word, i
        try:
            word = word_of(move)
        except (TypeError, ValueError):
            return False
        if not self.pseudo:
            return is_legal(&self.board.pos, <Move>word)
        for i in range(self._generate(moves, True) - moves):
            if moves[i] == word:
                return True
        return False

    def __str__(self):
        return " ".join(self())

    def __repr__(self):
        return f"<{'pseudo-legal' if self.pseudo else 'legal'} moves: {self}>"


cdef class Board:
    """A position together with the moves that led to it.

    `Board(sfen="startpos")` sets up `startpos` or an sfen of 3 or 4 fields, with or without a leading `sfen`. A text
    that is not an sfen, a legal move or a square raises a ValueError that quotes it; the board does not change.

    Boards are equal if pieces, hands and side to move are equal; earlier moves and the move number do not count. A
    Board can change, so it has no hash: use `key` or `sfen()` in sets and dictionaries. Copies and pickles keep its
    moves.
    """

    def __cinit__(self, *args, **kwargs):
        allocate_position(&self.pos, 64)

    def __init__(self, sfen: str = "startpos"):
        self.set_sfen(sfen)

    def __dealloc__(self):
        free_position(&self.pos)

    @classmethod
    def from_moves(cls, moves, sfen: str = "startpos"):
        """Return the board after `moves`, an iterable of moves for `push`. ValueError if one is illegal."""
        cdef Board board = Board.__new__(cls)
        board.set_sfen(sfen)
        for move in moves:
            board.push(move)
        return board

    @classmethod
    def from_record(cls, record, plies: int | None = None):
        """Return the board after an rsshogi `Record` or its first `plies` moves; ValueError if one is illegal."""
        moves = [str(entry.move) for entry in record.moves]
        return cls.from_moves(moves if plies is None else moves[:plies], record.init_position_sfen)

    @classmethod
    def from_psv(cls, data):
        """Return the board of a packed sfen, as `to_psv`, with move number 1; ValueError for other bytes."""
        return unpacked(cls, data, PSV)

    @classmethod
    def from_hcp(cls, data):
        """Return the board of a Huffman-coded position, as `from_psv` of a packed sfen."""
        return unpacked(cls, data, HCP)

    def __reduce__(self):
        cdef Board start = self._copy(Board)
        moves = played_moves(&start.pos)
        while game_length(&start.pos):
            undo_last(&start.pos)
        return type(self).from_moves, (moves, format_sfen(&start.pos)), getattr(self, "__dict__", None)

    def __eq__(self, other):
        cdef Board board
        if not isinstance(other, Board):
            return NotImplemented
        board = <Board>other
        return (self.pos.side == board.pos.side and self.pos.state.hand[0] == board.pos.state.hand[0]
                and self.pos.state.hand[1] == board.pos.state.hand[1]
                and memcmp(self.pos.board, board.pos.board, SQUARES) == 0)

    def copy(self):
        """Return an independent copy of the position and its moves."""
        return self._copy(type(self))

    def mirror(self):
        """Return the board rotated by half a turn with the colours exchanged, and its moves with it."""
        _, (moves, start), _ = Board.__reduce__(self)
        return type(self).from_moves(map(flip_move, moves), flip_sfen(start))

    cdef Board _copy(self, kind):
        """Copy without calling a subclass's `copy`."""
        cdef Board other = Board.__new__(kind)
        copy_position(&other.pos, &self.pos, 64)
        return other

    def set_sfen(self, sfen: str):
        """Set up a position as the constructor does, and forget the earlier moves."""
        cdef Board spare = Board.__new__(Board)
        text = sfen.strip()
        if text.startswith("sfen "):
            text = text[5:]
        if " moves " in text:
            raise ValueError(f"the moves are an argument of their own, as in Board.from_moves(['7g7f']): '{text}'")
        parse_sfen(&spare.pos, _START if text == "startpos" else text)
        copy_position(&self.pos, &spare.pos, 64)

    @property
    def turn(self):
        """The side to move: BLACK or WHITE."""
        return self.pos.side

    @property
    def ply(self):
        """Number of the next move as in an sfen: 1 at the start position."""
        return self.pos.ply

    @property
    def key(self):
        """64-bit hash key of board, hands and side to move: equal boards have equal keys, in every process."""
        return full_key(&self.pos)

    def sfen(self):
        """Return the position as an sfen of four fields, hands in the order R B G S N L P."""
        return format_sfen(&self.pos)

    def to_psv(self):
        """Return the 32 bytes of YaneuraOu's packed sfen, which lack the move number; ValueError without a king."""
        return pack_position(&self.pos, PSV)

    def to_hcp(self):
        """Return the 32 bytes of Apery's Huffman-coded position, as `to_psv`."""
        return pack_position(&self.pos, HCP)

    def push(self, move):
        """Make a legal move, dominated or not, or pass (`pass`, `0000`); ValueError for anything else."""
        cdef int word = word_of(move)
        if word == NULL_MOVE:
            self.push_pass()
            return
        if not is_legal(&self.pos, <Move>word):
            parse_move(&self.pos, move)     # raises the error
        reserve_plies(&self.pos, 1)
        do_move(&self.pos, <Move>word)

    def push_usi(self, text: str):
        """Make a move given as USI text and return it; ValueError as in `push`."""
        self.push(text)
        return text

    def push_pass(self):
        """Let the side to move pass (a null move, `pass` in `moves()`); ValueError if it is in check.

        Shogi has no such move: it is never legal, and only USI, KIF and KI2 have a text for it.
        """
        if in_check(&self.pos):
            raise ValueError("cannot pass in check")
        reserve_plies(&self.pos, 1)
        do_null(&self.pos)

    def pop(self):
        """Unmake the last move and return it; IndexError if no move has been pushed."""
        if not game_length(&self.pos):
            raise IndexError("no move to take back")
        return undo_last(&self.pos)

    def peek(self):
        """Return the last move; IndexError if no move has been pushed."""
        if not game_length(&self.pos):
            raise IndexError("no move has been made")
        return format_move(<Move>self.pos.state.move)

    def moves(self):
        """Return the moves pushed since the set-up."""
        return played_moves(&self.pos)

    @property
    def legal_moves(self):
        """The legal moves: `legal_moves()` is a list, `in`, `for`, `len` and `print` work without the call.

        `include_all` adds the dominated moves, non-promotions that are never better than the promotion: of a pawn,
        bishop or rook, or of a lance to the second rank.
        """
        return MoveList(self)

    @property
    def pseudo_legal_moves(self):
        """The legal moves and those that leave the king in check or mate by a pawn drop, as in `legal_moves`."""
        return MoveList(self, True)

    def legal_array(self, include_all: bool = False):
        """Return the moves of `legal_moves(include_all)` as a numpy array of their 16 bits."""
        cdef Move moves[MAX_MOVES]
        cdef Move *end = generate_legal(&self.pos, moves, include_all)
        import numpy    # only here: play does without it
        return numpy.frombuffer(bytearray((<char *>moves)[:(end - moves) * sizeof(Move)]), numpy.uint16)

    def is_legal(self, move):
        """Return whether this is a legal move, dominated or not."""
        try:
            return is_legal(&self.pos, <Move>word_of(move))
        except ValueError:
            return False

    def checking_moves(self, include_all: bool = False):
        """Return the legal moves that give check, without dominated moves unless `include_all`."""
        cdef Move moves[MAX_MOVES]
        return names_of(moves, generate_checks(&self.pos, moves, include_all))

    def quiet_checks(self, include_all: bool = False):
        """Return the checking moves that are neither captures nor pawn promotions."""
        return [move for move in self.checking_moves(include_all)
                if move[1] == "*" or not (self.piece_at(move[2:4])
                                          or (move.endswith("+") and self.piece_at(move[:2]) in ("P", "p")))]

    def is_check(self):
        """Return whether the side to move is in check."""
        return in_check(&self.pos)

    def checkers(self):
        """Return the squares of the pieces that give check to the side to move."""
        return squares_of(self.pos.state.checkers)

    def attackers(self, color: int, square: str):
        """Return the squares of a colour's pieces, pinned ones included, that attack a square, occupied or not."""
        cdef int owner = checked_color(color)
        return squares_of(attackers(&self.pos, parse_square(square), owner, occupied(&self.pos)))

    def faults(self):
        """Return why no game can reach the position: two pawns of a side on a file, pieces that can never move.

        A board never has more pieces than a set, or a king that the side to move could capture: `set_sfen` refuses it.
        """
        pieces = self.piece_map()
        pawns = [letter + square[0] for square, letter in pieces.items() if letter in "Pp"]
        found = [f"two pawns on file {pawn[1]}" for pawn in sorted(set(pawns)) if pawns.count(pawn) > 1]
        for square, letter in pieces.items():
            ahead = "abcdefghi".index(square[1]) if letter.isupper() else "ihgfedcba".index(square[1])
            if ahead < {"P": 1, "L": 1, "N": 2}.get(letter.upper(), 0):
                found.append(f"'{letter}' on '{square}' can never move")
        return found

    def is_valid(self):
        """Return whether `faults` finds nothing."""
        return not self.faults()

    def is_checkmate(self):
        """Return whether the side to move is in check and has no legal move."""
        return bool(in_check(&self.pos)) and not has_legal_move(&self.pos)

    def is_game_over(self, declaration: str = "NoEnteringKing", max_moves: int = 0):
        """Return whether the game has ended (see `outcome`)."""
        return self.outcome(declaration, max_moves) is not None

    def outcome(self, declaration: str = "NoEnteringKing", max_moves: int = 0):
        """Return why the game has ended and who has won, or None while it goes on.

        It ends by checkmate, without a legal move, by fourfold repetition, after `max_moves` moves (0: no limit), or if
        the side to move can declare a win under the rule `declaration` (a value as for `can_declare`; under TryRule, if
        the opponent's king has reached its square). ValueError for another rule.
        """
        cdef int winner, end = find_end(&self.pos, declaration_rule(declaration), max_moves, &winner)
        return Outcome(_TERMINATIONS[end - 1], None if winner < 0 else winner) if end else None

    def gives_check(self, move):
        """Return whether a legal move gives check; ValueError for any other."""
        cdef CheckInfo info
        cdef int parsed = parse_move(&self.pos, move)
        init_check_info(&self.pos, &info)
        return gives_check(&info, to_move32(&self.pos, <Move>parsed))

    def mate_in_one(self):
        """Return a move that mates at once, or None. Exact."""
        cdef Move move = mate_in_one(&self.pos)
        return None if move == NO_MOVE else format_move(move)

    def mate_in_three(self, int max_escapes=8):
        """Return a mate in three plies as [check, evasion, mate]; [] if none is found or there is a mate in one.

        Not exact: dominated moves, and checks after which the king seems to have more than `max_escapes` escape
        squares, are not tried.
        """
        cdef Move line[3]
        cdef uint64_t made = 0
        reserve_plies(&self.pos, 3)
        if mate_in_one(&self.pos) != NO_MOVE or not mate_in_three(&self.pos, max_escapes, line, &made):
            return []
        return names_of(line, line + 3)

    def repetition(self):
        """Return the result of fourfold repetition for the side to move: `none`, `draw`, `win` (the opponent gave
        perpetual check) or `lose` (the side to move did).
        """
        return _REPETITIONS.get(game_repetition(&self.pos), "none")

    def can_declare(self, rule: str = "CSARule27"):
        """Return whether the side to move can win by declaration (entering king) under `rule`.

        `rule` is a value of the USI option EnteringKingRule: NoEnteringKing, CSARule24, CSARule24H, CSARule27,
        CSARule27H or TryRule (is the king's move to 5a, for White 5i, legal? See `declaration_move`).
        """
        cdef int parsed = declaration_rule(rule)
        if parsed == RULE_TRY:
            return try_move(&self.pos) != NO_MOVE
        return can_declare(&self.pos, parsed)

    def declaration_move(self, rule: str = "CSARule27"):
        """Return `win` if the side to move can declare, under TryRule the king's move; else None."""
        if not self.can_declare(rule):
            return None
        return format_move(try_move(&self.pos)) if rule == "TryRule" else "win"

    def see(self, move):
        """Return the static exchange evaluation of a legal move, in centipawns for the side to move.

        It is the balance of the captures on the move's square if each side may stop at any time; pinned pieces capture
        only along the pin. ValueError for any other.
        """
        cdef int parsed = parse_move(&self.pos, move)
        return see(&self.pos, <Move>parsed)

    def piece_at(self, square: str):
        """Return the sfen letters of the piece on a square (`P` black pawn, `+r` white dragon), or None."""
        cdef int piece = self.pos.board[parse_square(square)]
        return piece_letters(piece) if piece else None

    def piece_map(self):
        """Return the sfen letters of every piece on the board by square."""
        cdef int square
        return {format_square(square): piece_letters(self.pos.board[square])
                for square in range(SQUARES) if self.pos.board[square]}

    def hand(self, color: int):
        """Return the numbers of pieces in a colour's hand by letter (`P L N S B R G`), without zeros."""
        cdef int owner = checked_color(color), piece_type
        held = {}
        for piece_type in range(PAWN, GOLD + 1):
            number = hand_count(self.pos.state.hand[owner], piece_type)
            if number:
                held[piece_letters(make_piece(BLACK, piece_type))] = number
        return held

    def king_square(self, color: int):
        """Return the square of a colour's king, or None if it has none (mate problems)."""
        cdef int square = self.pos.king[checked_color(color)]
        return None if square == NO_SQUARE else format_square(square)

    def perft(self, depth: int):
        """Count the leaves of the tree of all legal moves, 0 to 64 plies deep. Releases the GIL."""
        cdef uint64_t leaves
        cdef Board own = self._copy(Board)  # other threads may change this one meanwhile
        if not 0 <= depth <= 64:
            raise ValueError(f"perft depth {depth} is not between 0 and 64")
        cdef int plies = depth
        reserve_plies(&own.pos, plies)
        with nogil:
            leaves = perft(&own.pos, plies)
        return leaves

    def csa(self, move):
        """Return a legal move as CSA text (`+7776FU`); ValueError for any other."""
        cdef Move parsed = parse_move(&self.pos, move)
        return csa_text(format_move(parsed), mover(&self.pos, parsed), self.pos.side)

    def parse_csa(self, text: str):
        """Return the legal move that a CSA text means, with or without its sign; ValueError if there is none."""
        return find_csa(text, self)

    def push_csa(self, text: str):
        """Make a move given as CSA text and return it; ValueError as in `parse_csa`."""
        move = self.parse_csa(text)
        self.push(move)
        return move

    def kif(self, move):
        """Return a legal move or a pass as KIF text (`７六歩(77)`, `同　銀(31)`, `５五角打`, `パス`); else ValueError."""
        if word_of(move) == NULL_MOVE:
            return KIF_PASS
        cdef Move parsed = parse_move(&self.pos, move)
        return kif_text(format_move(parsed), mover(&self.pos, parsed), last_square(self))

    def ki2(self, move):
        """Return a legal move as KI2 text (`▲７六歩`, `△同　銀`, `▲６八金右`); ValueError for any other."""
        cdef int word = word_of(move)
        if word != NULL_MOVE:
            parse_move(&self.pos, move)
        return ki2_text(self, format_move(<Move>word))

    def parse_ki2(self, text: str):
        """Return the legal move that a KIF or KI2 text means; ValueError if it means none or several.

        The text may lack the mark of the side (`▲７六歩`), the origin if one move fits, and have half-width digits.
        """
        return find_ki2(text, self)

    def push_ki2(self, text: str):
        """Make a move given as KIF or KI2 text and return it; ValueError as in `parse_ki2`."""
        move = self.parse_ki2(text)
        self.push(move)
        return move

    parse_kif, push_kif = parse_ki2, push_ki2

    def ascii(self):
        """Return the board and hands as text with sfen letters, Black at the bottom."""
        return ascii_diagram(self.piece_map(), self._hands())

    def kanji(self):
        """Return the board and hands in Japanese, as shogi books print them; `v` marks White's pieces."""
        return kanji_diagram(self.piece_map(), self._hands())

    def svg(self):
        """Return a picture of the board and hands as SVG text, with the squares of the last move marked."""
        move = self.peek() if last_square(self) else ""
        return svg_diagram(self.piece_map(), self._hands(), [name for name in (move[:2], move[2:4]) if name.islower()])

    def _repr_svg_(self):
        """Return the picture that Jupyter shows."""
        return self.svg()

    def __str__(self):
        return self.ascii()

    def __repr__(self):
        return f"Board('{self.sfen()}')"

    cdef list _hands(self):
        return [self.hand(BLACK), self.hand(WHITE)]
