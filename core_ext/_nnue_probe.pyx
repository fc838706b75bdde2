"""Internals of NNUE for tests and benches: sums, vector kernels against portable ones, timed lines."""

import random

from core_ext.eval.nnue.accumulator cimport NnueState, accumulate
from core_ext.eval.nnue.activation cimport activate as activate_sums
from core_ext.eval.nnue.dense cimport (
    nnue_affine, nnue_dot_row, nnue_group, nnue_hidden, nnue_squares, portable_affine, portable_dot, portable_hidden,
    portable_squares,
)
from core_ext.eval.nnue.network cimport Network, nnue_evaluate, nnue_evaluate_from_scratch, nnue_free, nnue_init
from core_ext.eval.nnue.rows cimport nnue_accumulate, portable_accumulate
from core_ext.eval.nnue.selector cimport select_stack
from core_ext.shogi.movegen cimport generate_legal, has_legal_move
from core_ext.shogi.position cimport Position, allocate_position, do_move, free_position, undo_move
from core_ext.shogi.sfen cimport parse_move, parse_sfen
from core_ext.shogi.types cimport *


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
        """Return the value computed from scratch, by the portable kernels."""
        self.set_position(sfen, moves)
        return nnue_evaluate_from_scratch(&self.network.weights, &self.pos)

    def stack(self, sfen: str):
        """Return the index of the layer stack."""
        self.set_position(sfen, ())
        return select_stack(&self.network.weights.selector, &self.pos)

    def sums(self, sfen: str, moves=()):
        """Return the transformer's sums from the perspectives of Black and White."""
        cdef const int16_t *found[COLORS]
        cdef int i
        self.set_position(sfen, moves)
        accumulate(&self.state, &self.pos, found)
        return [[found[color][i] for i in range(self.network.weights.width)] for color in range(COLORS)]

    cdef set_position(self, str sfen, moves):
        parse_sfen(&self.pos, sfen)
        for move in moves:
            do_move(&self.pos, parse_move(&self.pos, move))


# ---- timed lines ----

cdef enum:
    TIMED_PLIES = 32


cdef class TimedLine:
    """A random line from a position, with all legal moves of each of its positions, to be played repeatedly."""

    cdef Network network
    cdef Position pos
    cdef NnueState nnue
    cdef Move moves[TIMED_PLIES][MAX_MOVES]     # of each position; the first one leads on
    cdef int counts[TIMED_PLIES]
    cdef int plies

    def __cinit__(self, network: Network, sfen: str, seed: int):
        self.network = network
        allocate_position(&self.pos, TIMED_PLIES + 16)
        nnue_init(&self.nnue, network)
        parse_sfen(&self.pos, sfen)
        self._choose_line(random.Random(seed))

    def __dealloc__(self):
        nnue_free(&self.nnue)
        free_position(&self.pos)

    cdef _choose_line(self, numbers):
        cdef Move *moves
        cdef int chosen, _ply
        while self.plies < TIMED_PLIES and has_legal_move(&self.pos):
            moves = self.moves[self.plies]
            self.counts[self.plies] = <int>(generate_legal(&self.pos, moves, False) - moves)
            chosen = numbers.randrange(self.counts[self.plies])
            moves[0], moves[chosen] = moves[chosen], moves[0]
            do_move(&self.pos, moves[0])
            self.plies += 1
        for _ply in range(self.plies):
            undo_move(&self.pos)

    @property
    def positions(self):
        """The number of positions that one round evaluates."""
        return self.plies + sum([self.counts[ply] for ply in range(self.plies)])

    def play(self, rounds: int, evaluated: bool):
        """Play the line and try every move `rounds` times; evaluate each position if `evaluated`. Return a checksum."""
        cdef int count = rounds, sum = 0, _round
        cdef bint wanted = evaluated
        with nogil:
            for _round in range(count):
                sum += self._play_once(wanted)
        return sum

    cdef int _play_once(self, bint evaluated) noexcept nogil:
        cdef int sum = 0, ply, i, _
        for ply in range(self.plies):
            sum += nnue_evaluate(&self.nnue, &self.pos) if evaluated else 0
            for i in range(self.counts[ply]):
                do_move(&self.pos, self.moves[ply][i])
                sum += nnue_evaluate(&self.nnue, &self.pos) if evaluated else 0
                undo_move(&self.pos)
            do_move(&self.pos, self.moves[ply][0])
        for _ in range(self.plies):
            undo_move(&self.pos)
        return sum


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


def activate(bint portable, bint sfnn, uint8_t[::1] out, const int16_t[::1] ours, const int16_t[::1] theirs):
    """Clip sums to 0..127 or, for SFNN, multiply pairs of them."""
    activate_sums(&out[0], &ours[0], &theirs[0], <int>ours.shape[0], sfnn, portable)


def group_of(int inputs, int outputs):
    """Return the inputs of a group of layer 0's weights in this build."""
    return nnue_group(inputs, outputs)


def affine(bint portable, int32_t[::1] out, const uint8_t[::1] inputs, int group, const int8_t[::1] weights,
           const int32_t[::1] bias, bint sparse=False):
    """Compute a dense layer; the weights have the layout [inputs / group][outputs][group]; `sparse` skips zeros."""
    cdef int count = <int>inputs.shape[0], outputs = <int>out.shape[0]
    if portable:
        portable_affine(&out[0], &inputs[0], count, outputs, group, &weights[0], &bias[0])
    else:
        nnue_affine(&out[0], &inputs[0], count, outputs, group, &weights[0], &bias[0], sparse)


def dot(bint portable, const uint8_t[::1] inputs, const int8_t[::1] weights):
    """Return the product of inputs and weights."""
    if portable:
        return portable_dot(&inputs[0], &weights[0], <int>inputs.shape[0])
    return nnue_dot_row(&inputs[0], &weights[0], <int>inputs.shape[0])


def hidden(bint portable, bint sfnn, uint8_t[::1] out, const int32_t[::1] sums):
    """Divide sums by 64 and clip them to 0..127; for SFNN, squares of the sums come first."""
    cdef int count = <int>sums.shape[0]
    if portable and sfnn:
        portable_squares(&out[0], &sums[0], count)
    elif portable:
        portable_hidden(&out[0], &sums[0], count)
    elif sfnn:
        nnue_squares(&out[0], &sums[0], count)
    else:
        nnue_hidden(&out[0], &sums[0], count)
