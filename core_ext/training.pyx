"""The model that learns; every signature and its contract stands in learning.pyi.

The float model has the terms of play and coarser ones that share what rare triples cannot learn. A pair's weight for
its king's zone lies in one cache line with those for the kings of that zone: fetching them is what learning spends its
time on. Terms of the turn say what a piece near a king, or a pair, is worth to the side that may move now. A value is
the sum of two parts that share no weight (core_ext.learn.shards). Each colour's king sees the pieces (a View); what
White's king sees counts against Black.

    value for Black = sum P + sum (PP + relative PP)
                    + for each view, + or -, sum (KP + relative KP + KKP) + sum (PP by king zone + KPP)
                    + or - (tempo + for each view sum (KP of the turn) + sum (PP and relative PP of the turn))

where the second sign is that of the side to move, in units of LOGIT centipawns, so that the chance to win is
1 / (1 + exp(-value)). Positions without a game have a tempo of their own: a book's values, from deep searches, give the
side to move a hundred centipawns less than games' do.
"""

from libc.math cimport expf
from libc.string cimport memset

import numpy as np

from core_ext.learn.factorized cimport (
    KINDS, OFFSETS, RELATIVE_PAIRS, ZONES, is_black, kinds, offset_place, place_in_row, zone_of,
)
from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, PAIRS, mirror_square
from core_ext.eval.symmetry cimport KKP_SHARE, in_the_middle, king_pair_place, mirrored, piece_place
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.learn.shards cimport PARTS, PairList, PairPlaces, Part, View, set_part, set_view
from core_ext.learn.record cimport Record, UNFINISHED, UNSCORED
from core_ext.shogi.types cimport BLACK, COLORS, SQUARES, WHITE, int32_t, uint32_t

cdef extern from "learn/adagrad.h" nogil:
    ctypedef struct Cell:
        float weight
        float squares
    enum:
        ROW_CELLS "ROW"
    ctypedef struct Ahead:
        const Cell *rows
        const int32_t *places
    float sum_rows(const Cell *rows, int own, const int32_t *places, int count, const Ahead *ahead) noexcept
    void improve_cell(Cell *cell, float gradient, float step) noexcept
    void fetch_row(const Ahead *ahead, int i) noexcept
    void improve_row(Cell *row, int own, float gradient, float shared_step, float own_step) noexcept
    void improve_rows(Cell *rows, int own, const int32_t *places, int count, float gradient, float shared_step,
                      float own_step, const Ahead *ahead) noexcept

cdef extern from "learn/pairs.h" nogil:
    ctypedef struct PairCells:
        Cell worth
        Cell turn
    float sum_pairs(const PairCells *pairs, const int32_t *places, const float *signs, int count, float side) noexcept
    void improve_pairs(PairCells *pairs, const int32_t *places, const float *signs, int count, float gradient,
                       float side, float step, float turn_step) noexcept

cdef extern from "learn/rendezvous.h" nogil:
    # Two threads that are at the same position tell each other their parts of its value.
    ctypedef struct Post:
        pass
    ctypedef struct MeetingPosts "Meeting":
        pass
    float exchange(MeetingPosts *meeting, int thread, uint32_t number, float part) noexcept

LOGIT = 600
ROW = ROW_CELLS
SIZES = {"tempo": 2, "piece": KINDS, "kp": HALF_SQUARES * BONAPIECES, "relative": OFFSETS,
         "kkp": HALF_SQUARES * KKP_SHARE, "kpp": ZONES * <long long>PAIRS * ROW_CELLS,
         "kp_turn": HALF_SQUARES * BONAPIECES, "pp": PAIRS, "pp_turn": PAIRS, "relative_pp": RELATIVE_PAIRS,
         "relative_pp_turn": RELATIVE_PAIRS}
TURN_OF = {"pp_turn": "pp", "relative_pp_turn": "relative_pp"}     # these lie beside one another

# NULL: the model does without the term.
cdef struct Model:
    Cell *tempo
    Cell *piece
    Cell *kp
    Cell *relative
    Cell *kkp
    Cell *kpp                   # [ZONES][PAIRS][ROW]
    Cell *kp_turn
    PairCells *pp
    PairCells *relative_pp
    bint turn                   # do pairs know the turn?

cdef struct Steps:
    float piece                 # tempo too
    float king_piece            # KP, relative KP and KP of the turn
    float king_king_piece
    float pair
    float zone
    float triple
    float pair_turn
    float relative_pair
    float relative_pair_turn

# A position as a thread sees it: of one part of it, or of both.
cdef struct Ready:
    View view[COLORS]
    Part part[PARTS]
    int turn                    # 1: Black is to move, -1: White
    int source                  # which tempo: 0 of games, 1 of positions without a game
    float target

# The parts that a thread works on, and where it meets the other thread.
cdef struct Share:
    int first
    int last
    MeetingPosts *meeting       # NULL: both parts are its own


cdef Share whole() noexcept nogil:
    cdef Share share
    share.first = 0
    share.last = PARTS - 1
    share.meeting = NULL
    return share


# ---- what a position shows to the model ----

cdef inline float chance(float value) noexcept nogil:
    return 1 / (1 + expf(-value))


cdef float target_of(const Record *record, float scale, float result_share) noexcept nogil:
    """The chance of Black to win: what the score says, mixed with how the game ended; one of them is known."""
    cdef float result = 0.5 * (record.result + 1)
    if record.score == UNSCORED:
        return result
    if record.result == UNFINISHED:
        return chance(record.score / scale)
    return (1 - result_share) * chance(record.score / scale) + result_share * result


cdef void make_ready(const Record *record, const Share *share, Ready *ready, float scale, float results) noexcept nogil:
    cdef int part
    set_view(record, BLACK, &ready.view[BLACK])
    set_view(record, WHITE, &ready.view[WHITE])
    for part in range(share.first, share.last + 1):
        set_part(ready.view, part, &ready.part[part])
    ready.turn = 1 if record.side == BLACK else -1
    ready.source = record.result == UNFINISHED
    ready.target = target_of(record, scale, results)


cdef inline Cell *rows_of(const Model *model, const View *view) noexcept nogil:
    return model.kpp + <size_t>zone_of(view.king) * PAIRS * ROW_CELLS


cdef Ahead half_of(const Model *model, const Ready *ready, int part, int color, int half) noexcept nogil:
    """The first or second half of a part's triples."""
    cdef const PairPlaces *seen = &ready.part[part].seen[color]
    cdef Ahead ahead
    ahead.rows = rows_of(model, &ready.view[color])
    ahead.places = seen.places + half * (seen.count // 2)
    return ahead


cdef inline int king_piece(const View *view, int i) noexcept nogil:
    """The place of a view's king and its piece `i`."""
    return view.king * BONAPIECES + piece_place(view.king, view.numbers[i])


cdef inline int king_king_piece(const View *view, int i) noexcept nogil:
    return view.king * KKP_SHARE + king_pair_place(view.king, view.other, view.numbers[i])


# ---- value ----

cdef float sum_king_pieces(const Model *model, const View *view) noexcept nogil:
    """KP and relative KP."""
    cdef float sum = 0
    cdef int i, place
    for i in range(view.count):
        if model.kp != NULL:
            sum += model.kp[king_piece(view, i)].weight
        if model.relative != NULL:
            place = offset_place(view.king, view.numbers[i])
            if place >= 0:
                sum += model.relative[place].weight
    return sum


cdef float sum_king_king_pieces(const Model *model, const View *view) noexcept nogil:
    cdef float sum = 0
    cdef int i
    if model.kkp != NULL:
        for i in range(view.count):
            sum += model.kkp[king_king_piece(view, i)].weight
    return sum


cdef float sum_turn_pieces(const Model *model, const View *view) noexcept nogil:
    """KP of the turn: for the side to move."""
    cdef float sum = 0
    cdef int i
    if model.kp_turn != NULL:
        for i in range(view.count):
            sum += model.kp_turn[king_piece(view, i)].weight
    return sum


cdef float sum_triples(const Model *model, const Ready *ready, int part, int color, const Ready *ahead) noexcept nogil:
    cdef const View *view = &ready.view[color]
    cdef const PairPlaces *seen = &ready.part[part].seen[color]
    cdef Ahead half
    if model.kpp == NULL:
        return 0
    half = half_of(model, ahead, part, color, 0)
    return sum_rows(rows_of(model, view), place_in_row(view.king), seen.places, seen.count, &half)


cdef float sum_pieces(const Model *model, const View *black) noexcept nogil:
    cdef float sum = 0
    cdef int i
    for i in range(black.count):
        sum += model.piece[kinds.kind[black.numbers[i]]].weight * (1 if is_black(black.numbers[i]) else -1)
    return sum


cdef float sum_first_singles(const Model *model, const Ready *ready) noexcept nogil:
    """The first part's terms of single pieces: KKP and KP of the turn."""
    cdef const View *black = &ready.view[BLACK]
    cdef const View *white = &ready.view[WHITE]
    return (sum_king_king_pieces(model, black) - sum_king_king_pieces(model, white)
            + ready.turn * (sum_turn_pieces(model, black) + sum_turn_pieces(model, white)))


cdef float sum_second_singles(const Model *model, const Ready *ready) noexcept nogil:
    """The second part's: P, KP, relative KP and the tempo."""
    cdef float tempo = model.tempo[ready.source].weight if model.tempo != NULL else 0
    return (sum_pieces(model, &ready.view[BLACK]) + sum_king_pieces(model, &ready.view[BLACK])
            - sum_king_pieces(model, &ready.view[WHITE]) + ready.turn * tempo)


cdef float part_value(const Model *model, const Ready *ready, int part, const Ready *ahead) noexcept nogil:
    cdef const PairList *pairs = &ready.part[part].pairs
    cdef const PairCells *cells = model.relative_pp if part else model.pp
    cdef float value = sum_triples(model, ready, part, BLACK, ahead) - sum_triples(model, ready, part, WHITE, ahead)
    if cells != NULL:
        value += sum_pairs(cells, pairs.places, pairs.signs, pairs.count, ready.turn if model.turn else 0)
    return value + (sum_second_singles(model, ready) if part else sum_first_singles(model, ready))


cdef float value_of(const Model *model, const Ready *ready, const Share *share, uint32_t number,
                    const Ready *ahead) noexcept nogil:
    """For Black, in LOGIT centipawns."""
    cdef float value[PARTS]
    cdef int part
    for part in range(share.first, share.last + 1):
        value[part] = part_value(model, ready, part, ahead)
    if share.meeting != NULL:
        value[share.first ^ 1] = exchange(share.meeting, share.first, number, value[share.first])
    return value[0] + value[1]


# ---- gradient steps ----

# Seen from the middle file, a pair and its mirror image are one weight, which takes one step after the other.

cdef void improve_triples(Model *model, const Ready *ready, int part, int color, float gradient, const Steps *steps,
                          const Ready *ahead) noexcept nogil:
    cdef const View *view = &ready.view[color]
    cdef const PairPlaces *seen = &ready.part[part].seen[color]
    cdef Cell *rows = rows_of(model, view)
    cdef int i, own = place_in_row(view.king)
    cdef Ahead half = half_of(model, ahead, part, color, 1)
    if not in_the_middle(view.king):
        improve_rows(rows, own, seen.places, seen.count, gradient, steps.zone, steps.triple, &half)
        return
    for i in range(seen.count):
        fetch_row(&half, i // 2)
        improve_row(rows + ROW_CELLS * seen.places[i], own, gradient, steps.zone, steps.triple)


cdef void improve_king_pieces(Model *model, const View *view, float gradient, const Steps *steps) noexcept nogil:
    cdef int i, place
    for i in range(view.count):
        if model.kp != NULL:
            improve_cell(model.kp + king_piece(view, i), gradient, steps.king_piece)
        if model.relative != NULL:
            place = offset_place(view.king, view.numbers[i])
            if place >= 0:
                improve_cell(model.relative + place, gradient, steps.king_piece)


cdef void improve_king_king_pieces(Model *model, const View *view, float gradient, const Steps *steps) noexcept nogil:
    cdef int i
    if model.kkp != NULL:
        for i in range(view.count):
            improve_cell(model.kkp + king_king_piece(view, i), gradient, steps.king_king_piece)


cdef void improve_turn_pieces(Model *model, const View *view, float gradient, const Steps *steps) noexcept nogil:
    cdef int i
    if model.kp_turn != NULL:
        for i in range(view.count):
            improve_cell(model.kp_turn + king_piece(view, i), gradient, steps.king_piece)


cdef void improve_pieces(Model *model, const View *black, float gradient, const Steps *steps) noexcept nogil:
    cdef int i
    for i in range(black.count):
        improve_cell(model.piece + kinds.kind[black.numbers[i]], gradient if is_black(black.numbers[i]) else -gradient,
                     steps.piece)


cdef void improve_first_singles(Model *model, const Ready *ready, float error, const Steps *steps) noexcept nogil:
    improve_king_king_pieces(model, &ready.view[BLACK], error, steps)
    improve_king_king_pieces(model, &ready.view[WHITE], -error, steps)
    improve_turn_pieces(model, &ready.view[BLACK], ready.turn * error, steps)
    improve_turn_pieces(model, &ready.view[WHITE], ready.turn * error, steps)


cdef void improve_second_singles(Model *model, const Ready *ready, float error, const Steps *steps) noexcept nogil:
    improve_pieces(model, &ready.view[BLACK], error, steps)
    improve_king_pieces(model, &ready.view[BLACK], error, steps)
    improve_king_pieces(model, &ready.view[WHITE], -error, steps)
    if model.tempo != NULL:
        improve_cell(model.tempo + ready.source, ready.turn * error, steps.piece)


cdef void improve_shared_pairs(Model *model, const Ready *ready, int part, float error,
                               const Steps *steps) noexcept nogil:
    cdef const PairList *pairs = &ready.part[part].pairs
    cdef PairCells *cells = model.relative_pp if part else model.pp
    if cells != NULL:
        improve_pairs(cells, pairs.places, pairs.signs, pairs.count, error, ready.turn if model.turn else 0,
                      steps.relative_pair if part else steps.pair,
                      steps.relative_pair_turn if part else steps.pair_turn)


cdef void improve_part(Model *model, const Ready *ready, int part, float error, const Steps *steps,
                       const Ready *ahead) noexcept nogil:
    if model.kpp != NULL:
        improve_triples(model, ready, part, BLACK, error, steps, ahead)
        improve_triples(model, ready, part, WHITE, -error, steps, ahead)
    improve_shared_pairs(model, ready, part, error, steps)
    if part == 0:
        improve_first_singles(model, ready, error, steps)
    else:
        improve_second_singles(model, ready, error, steps)


cdef void improve_model(Model *model, const Ready *ready, const Share *share, float error, const Steps *steps,
                        const Ready *ahead) noexcept nogil:
    """One step down the logistic loss, whose gradient by the value is the error of the chance."""
    cdef int part
    if error == 0:
        return
    for part in range(share.first, share.last + 1):
        improve_part(model, ready, part, error, steps, ahead)


cdef double loss_of(float p, float target) noexcept nogil:
    """Squared error of the chance: a progress figure that costs nothing."""
    return (p - target) * (p - target)


cdef double learn(Model *model, const Record *records, uint32_t count, const Share *share, const Steps *steps,
                  float scale, float results) noexcept nogil:
    """One pass over the records in their order; returns the sum of squared errors before each step.

    While a position is learned the triples of the next one are asked for, a few at a time: asked for all at once they
    would fill what a core can wait for, and it would stand still.
    """
    cdef Ready ready[2]
    cdef Ready *now
    cdef Ready *ahead
    cdef double loss = 0
    cdef uint32_t i
    cdef float p
    memset(ready, 0, sizeof(ready))
    make_ready(records, share, &ready[0], scale, results)
    for i in range(count):
        now = &ready[i % 2]
        ahead = &ready[(i + 1) % 2]
        if i + 1 < count:
            make_ready(records + i + 1, share, ahead, scale, results)
        p = chance(value_of(model, now, share, i + 1, ahead))
        loss += loss_of(p, now.target)
        improve_model(model, now, share, p - now.target, steps, ahead)
    return loss


cdef void value_records(const Model *model, const Record *records, float *values, long long count) noexcept nogil:
    cdef Ready ready
    cdef Share share = whole()
    cdef long long i
    memset(&ready, 0, sizeof(ready))
    for i in range(count):
        make_ready(records + i, &share, &ready, 600, 0)
        values[i] = value_of(model, &ready, &share, 0, &ready)


# ---- the door ----

def king_zones():
    return np.array([zone_of(mirror_square(king) if mirrored(king) else king) for king in range(SQUARES)])


cdef class Meeting:
    cdef MeetingPosts posts     # zeros, as all that a new object holds


cdef class Trainer:
    cdef Model model
    cdef dict blocks
    cdef readonly tuple terms

    def __cinit__(self, terms):
        self.terms = tuple(terms)
        self._check_terms()
        self.blocks = {}
        for name in self.terms:
            if name not in TURN_OF:
                cell = sizeof(PairCells) if name in TURN_OF.values() else sizeof(Cell)
                self.blocks[name] = Block(SIZES[name] * cell)
        self._name_blocks()

    cdef _check_terms(self):
        if "piece" not in self.terms or not set(self.terms) <= set(SIZES):
            raise ValueError(f"terms {self.terms}: 'piece' and any of {', '.join(SIZES)}")
        turn = any(name in self.terms for name in TURN_OF)
        for name, pair in TURN_OF.items():
            if (name in self.terms) != (turn and pair in self.terms):
                raise ValueError(f"terms {self.terms}: '{name}' and '{pair}'; either no pairs know the turn, or all do")

    cdef _name_blocks(self):
        self.model.tempo = <Cell *>self._memory("tempo")
        self.model.piece = <Cell *>self._memory("piece")
        self.model.kp = <Cell *>self._memory("kp")
        self.model.relative = <Cell *>self._memory("relative")
        self.model.kkp = <Cell *>self._memory("kkp")
        self.model.kpp = <Cell *>self._memory("kpp")
        self.model.kp_turn = <Cell *>self._memory("kp_turn")
        self.model.pp = <PairCells *>self._memory("pp")
        self.model.relative_pp = <PairCells *>self._memory("relative_pp")
        self.model.turn = any(name in self.terms for name in TURN_OF)

    cdef void *_memory(self, str name):
        return (<Block>self.blocks[name]).memory if name in self.blocks else NULL

    def learn(self, records, steps, scale: float = 600, result_share: float = 0):
        cdef Share share = whole()
        return self._learn(&share, records, steps, scale, result_share)

    def learn_part(self, part: int, meeting: Meeting, records, steps, scale: float = 600, result_share: float = 0):
        cdef Share share
        if part not in (0, 1):
            raise ValueError(f"part {part}: 0 or 1")
        share.first = share.last = part
        share.meeting = &meeting.posts
        return self._learn(&share, records, steps, scale, result_share)

    cdef _learn(self, const Share *share, records, steps, float scale, float results):
        cdef const Record[::1] given = records
        cdef Steps chosen
        cdef double loss = 0
        (chosen.piece, chosen.king_piece, chosen.king_king_piece, chosen.pair, chosen.zone, chosen.triple,
         chosen.pair_turn, chosen.relative_pair, chosen.relative_pair_turn) = steps
        if given.shape[0]:
            with nogil:
                loss = learn(&self.model, &given[0], <uint32_t>given.shape[0], share, &chosen, scale, results)
        return loss

    def values(self, records):
        cdef const Record[::1] given = records
        result = np.empty(len(records), dtype=np.float32)
        cdef float[::1] out = result
        if given.shape[0]:
            with nogil:
                value_records(&self.model, &given[0], &out[0], given.shape[0])
        return result

    def cells(self, name: str):
        if name not in self.terms:
            raise KeyError(name)
        block = np.asarray(self.blocks[TURN_OF.get(name, name)]).view(np.float32)
        if name not in TURN_OF and name not in TURN_OF.values():
            return block.reshape(-1, 2)
        return block.reshape(-1, 2, 2)[:, 1 if name in TURN_OF else 0]


cdef class Block:
    """Zeroed memory on huge pages that numpy may look at."""
    cdef void *memory
    cdef void *block
    cdef Py_ssize_t size[1]
    cdef Py_ssize_t stride[1]

    def __cinit__(self, size):
        self.size[0] = size
        self.stride[0] = 1
        self.memory = allocate_large(size, &self.block)
        if self.memory == NULL:
            raise MemoryError(f"no memory for {size >> 20} MB of weights")

    def __dealloc__(self):
        release_large(self.block)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        buffer.buf = self.memory
        buffer.format = 'B'
        buffer.internal = NULL
        buffer.itemsize = 1
        buffer.len = self.size[0]
        buffer.ndim = 1
        buffer.obj = self
        buffer.readonly = 0
        buffer.shape = self.size
        buffer.strides = self.stride
        buffer.suboffsets = NULL

    def __releasebuffer__(self, Py_buffer *buffer):
        pass
