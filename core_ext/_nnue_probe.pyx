"""Internals of NNUE for tests and benches: values, sums, timed lines."""

import random

from core_ext.eval.nnue.accumulator cimport NnueState, accumulate, allocate_sums, free_sums
from core_ext.eval.nnue.network cimport Network, nnue_evaluate
from core_ext.eval.nnue.selector cimport select_stack
from core_ext.shogi.movegen cimport generate_legal, has_legal_move
from core_ext.shogi.position cimport Position, allocate_position, do_move, free_position, undo_move
from core_ext.shogi.sfen cimport parse_sfen
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
        free_sums(&self.state)
        free_position(&self.pos)

    def use(self, network: Network):
        """Evaluate by another network from now on."""
        self.network = network
        allocate_sums(&self.state, &network.weights)

    def evaluate(self, sfen: str):
        """Return centipawns for the side to move."""
        parse_sfen(&self.pos, sfen)
        return nnue_evaluate(&self.state, &self.pos)

    def stack(self, sfen: str):
        """Return the index of the layer stack."""
        parse_sfen(&self.pos, sfen)
        return select_stack(&self.network.weights.selector, &self.pos)

    def sums(self, sfen: str):
        """Return the transformer's sums from the perspectives of Black and White."""
        cdef const int16_t *found[COLORS]
        cdef int i
        parse_sfen(&self.pos, sfen)
        accumulate(&self.state, &self.pos, found)
        return [[found[color][i] for i in range(self.network.weights.width)] for color in range(COLORS)]


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
        allocate_sums(&self.nnue, &network.weights)
        parse_sfen(&self.pos, sfen)
        self._choose_line(random.Random(seed))

    def __dealloc__(self):
        free_sums(&self.nnue)
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
