"""Internals of NNUE for tests and benches: updated sums against sums from scratch, vector kernels against portable
ones, timed walks.

Positions come in as sfen text and moves as USI text; nothing here is fast but the timed loops.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from core_ext.eval.nnue.accumulator cimport HIDDEN_BLOCKS, MAX_WIDTH, NnueState, accumulate, accumulate_from_scratch
from core_ext.eval.nnue.layers cimport (
    nnue_accumulate, nnue_activate, nnue_affine, nnue_find_used, nnue_hidden, portable_accumulate, portable_activate,
    portable_affine, portable_hidden,
)
from core_ext.eval.nnue.network cimport Network, nnue_evaluate, nnue_evaluate_from_scratch, nnue_free, nnue_init
from core_ext.shogi.movegen cimport generate_legal, has_legal_move
from core_ext.shogi.bitboard cimport some
from core_ext.shogi.position cimport (
    Position, allocate_position, do_move, do_null, free_position, undo_move, undo_null,
)
from core_ext.shogi.sfen cimport parse_move, parse_sfen
from core_ext.shogi.types cimport (
    COLORS, KING, MAX_MOVES, Move, captured_piece, int8_t, int16_t, int32_t, is_drop, is_promotion, moved_piece,
    type_of, uint8_t, uint32_t,
)


cdef class NnueProbe:
    """One thread's evaluation by a network."""

    cdef Network network
    cdef NnueState state
    cdef Position pos

    def __cinit__(self, network: Network):
        self.network = network
        allocate_position(&self.pos, 512)
        self.use(network)

    def __dealloc__(self):
        nnue_free(&self.state)
        free_position(&self.pos)

    def use(self, network: Network):
        """Evaluate by another network from now on."""
        self.network = network
        nnue_init(&self.state, network)

    def evaluate(self, sfen: str, moves=()):
        """Return centipawns for the side to move after the moves; only the last position is evaluated."""
        self.set_position(sfen, moves)
        return nnue_evaluate(&self.state, &self.pos)

    def evaluate_from_scratch(self, sfen: str, moves=()):
        """Return the same from scratch and by the portable kernels."""
        self.set_position(sfen, moves)
        return nnue_evaluate_from_scratch(&self.network.weights, &self.pos)

    def sums(self, sfen: str, moves=()):
        """Return the first layer's sums from the perspectives of Black and White."""
        cdef const int16_t *found[COLORS]
        cdef int i
        self.set_position(sfen, moves)
        accumulate(&self.state, &self.pos, found)
        return [[found[color][i] for i in range(self.network.weights.width)] for color in range(COLORS)]

    cdef set_position(self, str sfen, moves):
        parse_sfen(&self.pos, sfen)
        for move in moves:
            do_move(&self.pos, parse_move(&self.pos, move))


# ---- walks ----

cdef struct Walk:
    Position pos
    NnueState nnue
    uint64_t state          # of the random numbers
    uint64_t evaluated
    uint64_t wrong
    uint64_t kings          # moves of each sort on the way
    uint64_t captures
    uint64_t promotions
    uint64_t drops
    uint64_t nulls
    uint64_t undone


cdef uint64_t draw(Walk *walk) noexcept nogil:
    """xorshift64*"""
    walk.state ^= walk.state >> 12
    walk.state ^= walk.state << 25
    walk.state ^= walk.state >> 27
    return walk.state * <uint64_t>0x2545F4914F6CDD1D


cdef bint sums_agree(Walk *walk) noexcept nogil:
    cdef int16_t from_scratch[COLORS * MAX_WIDTH]
    cdef const int16_t *sums[COLORS]
    cdef int width = walk.nnue.weights.width
    accumulate(&walk.nnue, &walk.pos, sums)
    accumulate_from_scratch(walk.nnue.weights, &walk.pos, from_scratch)
    return not memcmp(sums[0], from_scratch, width * 2) and not memcmp(sums[1], from_scratch + width, width * 2)


cdef void check_position(Walk *walk) noexcept nogil:
    """Compare every sum with one from scratch; every tenth time the value too."""
    walk.evaluated += 1
    if draw(walk) % 10 == 0:
        walk.wrong += nnue_evaluate(&walk.nnue, &walk.pos) != nnue_evaluate_from_scratch(walk.nnue.weights, &walk.pos)
    walk.wrong += not sums_agree(walk)


cdef Move choose_move(Walk *walk) noexcept nogil:
    """Choose a random legal move; captures and king moves are more frequent than by chance."""
    cdef Move moves[MAX_MOVES]
    cdef Move *last = generate_legal(&walk.pos, moves, True)
    cdef Move move
    cdef int tries = 3
    while True:
        move = moves[draw(walk) % <uint64_t>(last - moves)]
        tries -= 1
        if not tries or walk.pos.board[move & 127] or \
                (not is_drop(move) and type_of(walk.pos.board[move >> 7 & 127]) == KING):
            return move


cdef void step_somewhere(Walk *walk) noexcept nogil:
    cdef Move move
    if draw(walk) % 16 == 0 and not some(walk.pos.state.checkers):
        do_null(&walk.pos)
        walk.nulls += 1
        return
    move = choose_move(walk)
    do_move(&walk.pos, move)
    walk.kings += not is_drop(move) and type_of(moved_piece(walk.pos.state.move)) == KING
    walk.captures += captured_piece(walk.pos.state.move) != 0
    walk.promotions += is_promotion(move)
    walk.drops += is_drop(move)


cdef void step_back(Walk *walk) noexcept nogil:
    walk.undone += 1
    if walk.pos.state.move >> 16:
        undo_move(&walk.pos)
    else:
        undo_null(&walk.pos)


cdef void wander(Walk *walk, uint64_t positions, int plies) noexcept nogil:
    """Walk up and down a tree at random, checking the sums now of most positions, now of few."""
    cdef int depth = 0, one_in = 1
    while walk.evaluated < positions:
        if depth < plies and has_legal_move(&walk.pos) and (depth == 0 or draw(walk) % 4):
            step_somewhere(walk)
            depth += 1
        elif depth == 0:
            return
        else:
            depth -= 1
            step_back(walk)
        if draw(walk) % 64 == 0:
            one_in = 1 + draw(walk) % 12
        if draw(walk) % one_in == 0:
            check_position(walk)


def walk_network(network: Network, sfen: str, seed: int, positions: int, plies: int = 200):
    """Check sums on a random walk from a position; return counts of errors and of what was met."""
    cdef Walk walk
    cdef uint64_t wanted = positions
    cdef int deepest = plies
    memset(&walk, 0, sizeof(walk))
    walk.state = seed * 2 + 1
    allocate_position(&walk.pos, plies + 16)
    nnue_init(&walk.nnue, network)
    try:
        parse_sfen(&walk.pos, sfen)
        with nogil:
            wander(&walk, wanted, deepest)
    finally:
        nnue_free(&walk.nnue)
        free_position(&walk.pos)
    return {
        "evaluated": walk.evaluated, "wrong": walk.wrong, "kings": walk.kings, "captures": walk.captures,
        "promotions": walk.promotions, "drops": walk.drops, "nulls": walk.nulls, "undone": walk.undone,
    }


# ---- timed walks ----

cdef int try_all(Walk *walk, const Move *move, const Move *last, bint evaluated) noexcept nogil:
    """Do and undo every move, as at the leaves of a search; evaluate each position if `evaluated`."""
    cdef int sum = 0
    while move != last:
        do_move(&walk.pos, move[0])
        if evaluated:
            sum += nnue_evaluate(&walk.nnue, &walk.pos)
        undo_move(&walk.pos)
        move += 1
    return sum


cdef int play_out(Walk *walk, Move *moves, int *counts, int plies, int rounds, bint evaluated) noexcept nogil:
    """Visit the positions of a line and all their children, `rounds` times; the first move listed leads on."""
    cdef int sum = 0, ply, _round, _ply
    for _round in range(rounds):
        for ply in range(plies):
            if evaluated:
                sum += nnue_evaluate(&walk.nnue, &walk.pos)
            sum += try_all(walk, moves + ply * MAX_MOVES, moves + ply * MAX_MOVES + counts[ply], evaluated)
            do_move(&walk.pos, moves[ply * MAX_MOVES])
        for _ply in range(plies):
            undo_move(&walk.pos)
    return sum


cdef enum:
    TIMED_PLIES = 32


cdef class TimedLine:
    """A random line from a position, with all legal moves of each of its positions, to be played repeatedly."""

    cdef Walk walk
    cdef Network network
    cdef Move moves[TIMED_PLIES * MAX_MOVES]
    cdef int counts[TIMED_PLIES]
    cdef int plies

    def __cinit__(self, network: Network, sfen: str, seed: int):
        self.network = network
        self.walk.state = seed * 2 + 1
        allocate_position(&self.walk.pos, TIMED_PLIES + 16)
        nnue_init(&self.walk.nnue, network)
        parse_sfen(&self.walk.pos, sfen)
        self.choose_line()

    def __dealloc__(self):
        nnue_free(&self.walk.nnue)
        free_position(&self.walk.pos)

    cdef choose_line(self):
        cdef Move *first
        cdef uint64_t chosen
        cdef int _ply
        while self.plies < TIMED_PLIES and has_legal_move(&self.walk.pos):
            first = self.moves + self.plies * MAX_MOVES
            self.counts[self.plies] = <int>(generate_legal(&self.walk.pos, first, False) - first)
            chosen = draw(&self.walk) % <uint64_t>self.counts[self.plies]
            first[0], first[chosen] = first[chosen], first[0]
            do_move(&self.walk.pos, first[0])
            self.plies += 1
        for _ply in range(self.plies):
            undo_move(&self.walk.pos)

    @property
    def positions(self):
        """The number of positions that one round evaluates."""
        return self.plies + sum([self.counts[ply] for ply in range(self.plies)])

    def play(self, rounds: int, evaluated: bool):
        """Play the line `rounds` times, with the values of all positions if `evaluated`; return a checksum."""
        cdef int count = rounds, found
        cdef bint wanted = evaluated
        with nogil:
            found = play_out(&self.walk, self.moves, self.counts, self.plies, count, wanted)
        return found


# ---- kernels ----

def accumulate_rows(bint portable, int16_t[::1] sums, const int16_t[:, ::1] rows, const int32_t[::1] removed,
                    const int32_t[::1] added):
    """Subtract rows from the sums and add others, in place, by the vector or the portable kernel."""
    cdef int width = <int>sums.shape[0]
    if portable:
        portable_accumulate(&sums[0], &sums[0], width, &rows[0, 0], &removed[0], <int>removed.shape[0], &added[0],
                            <int>added.shape[0])
    else:
        nnue_accumulate(&sums[0], &sums[0], width, &rows[0, 0], &removed[0], <int>removed.shape[0], &added[0],
                        <int>added.shape[0])


def activate(bint portable, uint8_t[::1] out, const int16_t[::1] sums):
    """Clip sums to 0..127."""
    if portable:
        portable_activate(&out[0], &sums[0], <int>sums.shape[0])
    else:
        nnue_activate(&out[0], &sums[0], <int>sums.shape[0])


def affine(bint portable, int32_t[::1] out, const uint8_t[::1] inputs, const int8_t[::1] weights,
           const int32_t[::1] bias):
    """Compute a dense layer; the weights have the layout [inputs / 4][outputs][4]."""
    cdef uint32_t used[HIDDEN_BLOCKS]
    nnue_find_used(used, &weights[0], <int>inputs.shape[0], <int>out.shape[0])
    if portable:
        portable_affine(&out[0], &inputs[0], <int>inputs.shape[0], <int>out.shape[0], &weights[0], &bias[0])
    else:
        nnue_affine(&out[0], &inputs[0], <int>inputs.shape[0], <int>out.shape[0], &weights[0], &bias[0],
                    used)


def hidden(bint portable, uint8_t[::1] out, const int32_t[::1] sums):
    """Divide the sums, a multiple of 16 of them, by 64 and clip to 0..127."""
    if portable:
        portable_hidden(&out[0], &sums[0], <int>sums.shape[0])
    else:
        nnue_hidden(&out[0], &sums[0], <int>sums.shape[0])
