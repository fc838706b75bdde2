"""The core's insides for the tests and the benches: what is kept while playing beside the same rebuilt from scratch.

Positions come in as sfen text and moves as USI text; nothing here is fast but the timed loops.
"""

from libc.stdint cimport uint64_t

from core_ext.bitboard cimport Bitboard, LOW_SQUARES, attacks, empty, pop, some
from core_ext.hand cimport hand_count, hand_covers, hand_has, hand_one
from core_ext.movegen cimport (
    generate_captures, generate_checks, generate_drops, generate_evasions, generate_legal, generate_pseudo_legal,
    generate_quiet_checks, generate_quiets, has_legal_move, is_legal, is_useless,
)
from core_ext.perft cimport perft
from core_ext.position cimport (
    Dirty, DirtyPiece, NO_REPETITION, Position, REPETITION_DRAW, REPETITION_INFERIOR, REPETITION_LOSS,
    REPETITION_SUPERIOR, REPETITION_WIN, allocate_position, do_move, do_null, find_dirty, find_repetition,
    free_position, reserve_plies, undo_move, undo_null,
)
from core_ext.see cimport see, see_at_least
from core_ext.sfen cimport format_move, format_sfen, format_square, parse_move, parse_sfen, piece_letters
from core_ext.types cimport COLORS, GOLD, Hand, MAX_MOVES, Move, NO_SQUARE, PAWN, PIECE_TYPES, SQUARES

_REPETITIONS = {
    NO_REPETITION: "none", REPETITION_DRAW: "draw", REPETITION_WIN: "win", REPETITION_LOSS: "lose",
    REPETITION_SUPERIOR: "superior", REPETITION_INFERIOR: "inferior",
}


cdef list square_names(Bitboard squares):
    cdef list names = []
    while some(squares):
        names.append(format_square(pop(&squares)))
    return names


cdef Bitboard to_bitboard(object squares):
    cdef Bitboard result = empty()
    for square in squares:
        if square < LOW_SQUARES:
            result.low |= <uint64_t>1 << <int>square
        else:
            result.high |= <uint64_t>1 << <int>(square - LOW_SQUARES)
    return result


def piece_attacks(color: int, piece_type: int, square: int, occupied):
    """Squares (0 to 80) that a piece attacks with the squares `occupied` taken."""
    cdef Bitboard found = attacks(color, piece_type, square, to_bitboard(occupied))
    squares = []
    while some(found):
        squares.append(pop(&found))
    return squares


def hand_facts(counts, other):
    """(counts read back, whether the first hand covers the second, which kinds it holds); counts from pawn to gold."""
    cdef Hand one = 0, two = 0
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        one += <Hand><int>counts[<Py_ssize_t>(piece_type - 1)] * hand_one(piece_type)
        two += <Hand><int>other[<Py_ssize_t>(piece_type - 1)] * hand_one(piece_type)
    read = [hand_count(one, piece_type) for piece_type in range(PAWN, GOLD + 1)]
    held = [bool(hand_has(one, piece_type)) for piece_type in range(PAWN, GOLD + 1)]
    return read, bool(hand_covers(one, two)), held


cdef class Probe:
    """A position whose every field can be looked at."""

    cdef Position pos

    def __cinit__(self, sfen: str):
        allocate_position(&self.pos, 16)
        parse_sfen(&self.pos, sfen)

    def __dealloc__(self):
        free_position(&self.pos)

    def sfen(self):
        return format_sfen(&self.pos)

    def push(self, move: str):
        cdef int parsed = parse_move(&self.pos, move)
        reserve_plies(&self.pos, 1)
        do_move(&self.pos, <Move>parsed)

    def pop(self):
        undo_move(&self.pos)

    def push_null(self):
        reserve_plies(&self.pos, 1)
        do_null(&self.pos)

    def pop_null(self):
        undo_null(&self.pos)

    def state(self):
        """Everything a move changes, by name: keys, checkers, pinned, hands, bitboards, mailbox, kings."""
        return {
            "board_key": self.pos.state.board_key,
            "hand_key": self.pos.state.hand_key,
            "checkers": square_names(self.pos.state.checkers),
            "pinned": square_names(self.pos.state.pinned),
            "hands": [self.pos.state.hand[0], self.pos.state.hand[1]],
            "kinds": [square_names(self.pos.kind[kind]) for kind in range(PIECE_TYPES)],
            "colors": [square_names(self.pos.color[color]) for color in range(COLORS)],
            "board": [self.pos.board[square] for square in range(SQUARES)],
            "kings": [self.pos.king[color] for color in range(COLORS)],
            "side": self.pos.side,
            "ply": self.pos.ply,
        }

    def dirty(self):
        """What the last move changed: (piece, square, number in hand) before and after, six values a piece."""
        cdef Dirty dirty
        find_dirty(self.pos.state, &dirty)
        return [self._dirty_piece(dirty, i) for i in range(dirty.count)]

    cdef tuple _dirty_piece(self, Dirty dirty, int i):
        cdef DirtyPiece changed = dirty.changed[i]
        return (
            piece_letters(changed.old_piece), self._place(changed.old_square), changed.old_held,
            piece_letters(changed.new_piece), self._place(changed.new_square), changed.new_held,
        )

    def _place(self, square: int):
        return "hand" if square == NO_SQUARE else format_square(square)

    def generate(self, kind: str, useless: bool = True):
        """The moves of one generator by its name, in its order."""
        cdef Move moves[MAX_MOVES]
        cdef Move *last = moves
        cdef const Move *move = moves
        if kind == "captures":
            last = generate_captures(&self.pos, moves, useless)
        elif kind == "quiets":
            last = generate_quiets(&self.pos, moves, useless)
        elif kind == "drops":
            last = generate_drops(&self.pos, moves)
        elif kind == "evasions":
            last = generate_evasions(&self.pos, moves, useless)
        elif kind == "legal":
            last = generate_legal(&self.pos, moves, useless)
        elif kind == "checks":
            last = generate_checks(&self.pos, moves, useless)
        elif kind == "quiet_checks":
            last = generate_quiet_checks(&self.pos, moves)
        elif kind == "pseudo_legal":
            last = generate_pseudo_legal(&self.pos, moves, useless)
        else:
            raise ValueError(f"no generator '{kind}'")
        names = []
        while move != last:
            names.append(format_move(move[0]))
            move += 1
        return names

    def legal_words(self):
        """Every 16-bit word that is_legal takes for a legal move, as text."""
        cdef int word
        return [format_move(<Move>word) for word in range(1 << 16) if is_legal(&self.pos, <Move>word)]

    def has_legal_move(self):
        return bool(has_legal_move(&self.pos))

    def is_useless(self, move: str):
        return bool(is_useless(&self.pos, <Move>parse_move(&self.pos, move)))

    def see_at_least(self, move: str, threshold: int):
        return bool(see_at_least(&self.pos, <Move>parse_move(&self.pos, move), threshold))

    def see(self, move: str):
        return see(&self.pos, <Move>parse_move(&self.pos, move))

    def find_repetition(self, limit: int = 1000):
        """What the search is told: `none`, `draw`, `win`, `lose`, `superior`, `inferior`."""
        return _REPETITIONS[find_repetition(&self.pos, limit)]

    def time_legal(self, calls: int, useless: bool = True):
        """Moves written in `calls` whole legal generations; the caller takes the time."""
        cdef Move moves[MAX_MOVES]
        cdef uint64_t written = 0
        cdef long long _, times = calls
        cdef bint every = useless
        with nogil:
            for _ in range(times):
                written += generate_legal(&self.pos, moves, every) - moves
        return written

    def time_perft(self, depth: int):
        """Leaves at `depth`."""
        cdef uint64_t leaves
        cdef int plies = depth
        reserve_plies(&self.pos, plies)
        with nogil:
            leaves = perft(&self.pos, plies)
        return leaves
