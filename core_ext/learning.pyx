"""The model that learns; every signature and its contract stands in learning.pyi.

The float model has the terms of play and coarser ones that share what rare triples cannot learn. Each colour's king
sees the pieces (a View); what White's king sees counts against Black. A pair's weight for its king's zone lies in one
cache line with those for the kings of that zone: fetching them is what learning spends its time on. Terms of the turn
say what a piece near a king, or a pair, is worth to the side that may move now.

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

from core_ext.coarse cimport (
    KINDS, OFFSETS, RELATIVE_PAIRS, ZONES, is_black, kinds, list_relative_pairs, offset_place, place_in_row, zone_of,
)
from core_ext.features cimport BONAPIECES, HALF_SQUARES, LISTED, PAIRS, features, inverse_square, mirror_square
from core_ext.folding cimport (
    KKP_SHARE, fold_pairs, in_the_middle, king_pair_place, mirrored, pair_place, piece_place,
)
from core_ext.memory cimport allocate_large, release_large
from core_ext.records cimport Record, UNFINISHED, UNSCORED
from core_ext.types cimport BLACK, COLORS, WHITE, int32_t

cdef extern from "adagrad.h" nogil:
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

cdef extern from "pairs.h" nogil:
    ctypedef struct PairCells:
        Cell worth
        Cell turn
    float sum_pairs(const PairCells *pairs, const int32_t *places, const float *signs, int count, float side) noexcept
    void improve_pairs(PairCells *pairs, const int32_t *places, const float *signs, int count, float gradient,
                       float side, float step, float turn_step) noexcept

cdef enum:
    PAIR_COUNT = LISTED * (LISTED - 1) // 2

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

# What one king sees, on files 1 to 5 by mirroring.
cdef struct View:
    int king
    int other
    int count
    int32_t numbers[LISTED]
    int32_t pairs[PAIR_COUNT]

# Pairs that know no king, some of them perhaps the same; the sign says for whom the first weight counts.
cdef struct PairList:
    int count
    int32_t places[PAIR_COUNT]
    float signs[PAIR_COUNT]

cdef struct Ready:
    View view[COLORS]
    int side
    int source                  # which tempo: 0 of games, 1 of positions without a game
    int count
    int32_t numbers[LISTED]     # as Black sees them
    PairList pairs
    PairList relative
    float target


# ---- what a position shows to the model ----

cdef void sort_numbers(View *view) noexcept nogil:
    """No two are the same, so each goes behind as many as are smaller."""
    cdef int32_t given[LISTED]
    cdef int i, j, smaller
    for i in range(view.count):
        given[i] = view.numbers[i]
    for i in range(view.count):
        smaller = 0
        for j in range(view.count):
            smaller += given[j] < given[i]
        view.numbers[smaller] = given[i]


cdef void list_pairs(View *view) noexcept nogil:
    """The numbers ascend, so a pair's place is simple, and neighbours in the list lie near each other in memory."""
    cdef int i, j, first, n = 0
    if in_the_middle(view.king):
        for i in range(view.count):
            for j in range(i):
                view.pairs[n] = pair_place(view.king, view.numbers[i], view.numbers[j])
                n += 1
        return
    for i in range(view.count):
        first = view.numbers[i] * (view.numbers[i] + 1) // 2
        for j in range(i):
            view.pairs[n + j] = first + view.numbers[j]
        n += i


cdef void set_view(const Record *record, int color, View *view) noexcept nogil:
    cdef int i = 0, number
    cdef bint turn = mirrored(record.king[color])
    view.king = record.king[color]
    view.other = inverse_square(record.king[color ^ 1])
    if turn:
        view.king = mirror_square(view.king)
        view.other = mirror_square(view.other)
    while i < LISTED and record.pieces[i]:
        number = record.pieces[i]
        if color == WHITE:
            number = features.inverse[number]
        view.numbers[i] = features.mirror[number] if turn else number
        i += 1
    view.count = i
    sort_numbers(view)
    list_pairs(view)


cdef inline int pairs_of(const View *view) noexcept nogil:
    return view.count * (view.count - 1) // 2


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


cdef void list_shared_pairs(const View *black, Ready *ready) noexcept nogil:
    fold_pairs(black.numbers, black.count, ready.pairs.places, ready.pairs.signs)
    ready.pairs.count = pairs_of(black)
    ready.relative.count = list_relative_pairs(black.numbers, black.count, ready.relative.places, ready.relative.signs)


cdef void make_ready(const Record *record, Ready *ready, float scale, float share) noexcept nogil:
    cdef int i
    set_view(record, BLACK, &ready.view[BLACK])
    set_view(record, WHITE, &ready.view[WHITE])
    ready.count = ready.view[BLACK].count
    for i in range(ready.count):
        ready.numbers[i] = record.pieces[i]
    list_shared_pairs(&ready.view[BLACK], ready)
    ready.side = record.side
    ready.source = record.result == UNFINISHED
    ready.target = target_of(record, scale, share)


cdef inline Cell *rows_of(const Model *model, const View *view) noexcept nogil:
    return model.kpp + <size_t>zone_of(view.king) * PAIRS * ROW_CELLS


cdef Ahead half_of(const Model *model, const View *view, int half) noexcept nogil:
    """The first or second half of a view's triples."""
    cdef Ahead ahead
    ahead.rows = rows_of(model, view)
    ahead.places = view.pairs + half * (pairs_of(view) // 2)
    return ahead


# ---- value ----

cdef float sum_pieces_seen(const Model *model, const View *view) noexcept nogil:
    """KP, relative KP and KKP of one view."""
    cdef float sum = 0
    cdef int i, place
    for i in range(view.count):
        if model.kp != NULL:
            sum += model.kp[view.king * BONAPIECES + piece_place(view.king, view.numbers[i])].weight
        if model.relative != NULL:
            place = offset_place(view.king, view.numbers[i])
            if place >= 0:
                sum += model.relative[place].weight
        if model.kkp != NULL:
            sum += model.kkp[view.king * KKP_SHARE + king_pair_place(view.king, view.other, view.numbers[i])].weight
    return sum


cdef float sum_view(const Model *model, const View *view, const View *ahead) noexcept nogil:
    cdef float sum = sum_pieces_seen(model, view)
    cdef Ahead half
    if model.kpp != NULL:
        half = half_of(model, ahead, 0)
        sum += sum_rows(rows_of(model, view), place_in_row(view.king), view.pairs, pairs_of(view), &half)
    return sum


cdef float sum_turn(const Model *model, const Ready *ready) noexcept nogil:
    """Tempo and KP of the turn: for the side to move."""
    cdef float sum = 0
    cdef const View *view
    cdef int color, i
    if model.tempo != NULL:
        sum += model.tempo[ready.source].weight
    if model.kp_turn != NULL:
        for color in range(COLORS):
            view = &ready.view[color]
            for i in range(view.count):
                sum += model.kp_turn[view.king * BONAPIECES + piece_place(view.king, view.numbers[i])].weight
    return sum


cdef inline float side_of(const Model *model, const Ready *ready) noexcept nogil:
    """Whose pairs of the turn count: 1 Black's, -1 White's, 0 nobody's."""
    return 0 if not model.turn else 1 if ready.side == BLACK else -1


cdef float sum_shared_pairs(const Model *model, const Ready *ready) noexcept nogil:
    """PP and relative PP, of the turn too."""
    cdef float sum = 0, side = side_of(model, ready)
    cdef const PairList *pairs = &ready.pairs
    if model.pp != NULL:
        sum += sum_pairs(model.pp, pairs.places, pairs.signs, pairs.count, side)
    pairs = &ready.relative
    if model.relative_pp != NULL:
        sum += sum_pairs(model.relative_pp, pairs.places, pairs.signs, pairs.count, side)
    return sum


cdef float value_of(const Model *model, const Ready *ready, const Ready *ahead) noexcept nogil:
    """For Black, in LOGIT centipawns."""
    cdef float value = sum_view(model, &ready.view[BLACK], &ahead.view[BLACK])
    cdef int i
    value -= sum_view(model, &ready.view[WHITE], &ahead.view[WHITE])
    for i in range(ready.count):
        value += model.piece[kinds.kind[ready.numbers[i]]].weight * (1 if is_black(ready.numbers[i]) else -1)
    value += sum_shared_pairs(model, ready)
    return value + sum_turn(model, ready) * (1 if ready.side == BLACK else -1)


# ---- gradient steps ----

# Seen from the middle file, a pair and its mirror image are one weight, which takes one step after the other.

cdef void improve_triples(Model *model, const View *view, float gradient, const Steps *steps,
                          const Ahead *ahead) noexcept nogil:
    cdef Cell *rows = rows_of(model, view)
    cdef int i, own = place_in_row(view.king)
    if not in_the_middle(view.king):
        improve_rows(rows, own, view.pairs, pairs_of(view), gradient, steps.zone, steps.triple, ahead)
        return
    for i in range(pairs_of(view)):
        fetch_row(ahead, i // 2)
        improve_row(rows + ROW_CELLS * view.pairs[i], own, gradient, steps.zone, steps.triple)


cdef void improve_pieces_seen(Model *model, const View *view, float gradient, const Steps *steps) noexcept nogil:
    cdef int i, place
    for i in range(view.count):
        if model.kp != NULL:
            place = view.king * BONAPIECES + piece_place(view.king, view.numbers[i])
            improve_cell(model.kp + place, gradient, steps.king_piece)
        if model.relative != NULL:
            place = offset_place(view.king, view.numbers[i])
            if place >= 0:
                improve_cell(model.relative + place, gradient, steps.king_piece)
        if model.kkp != NULL:
            place = view.king * KKP_SHARE + king_pair_place(view.king, view.other, view.numbers[i])
            improve_cell(model.kkp + place, gradient, steps.king_king_piece)


cdef void improve_view(Model *model, const View *view, float gradient, const Steps *steps,
                       const View *ahead) noexcept nogil:
    cdef Ahead half
    improve_pieces_seen(model, view, gradient, steps)
    if model.kpp != NULL:
        half = half_of(model, ahead, 1)
        improve_triples(model, view, gradient, steps, &half)


cdef void improve_turn(Model *model, const Ready *ready, float gradient, const Steps *steps) noexcept nogil:
    cdef const View *view
    cdef int color, i
    if model.tempo != NULL:
        improve_cell(model.tempo + ready.source, gradient, steps.piece)
    if model.kp_turn != NULL:
        for color in range(COLORS):
            view = &ready.view[color]
            for i in range(view.count):
                improve_cell(model.kp_turn + view.king * BONAPIECES + piece_place(view.king, view.numbers[i]), gradient,
                             steps.king_piece)


cdef void improve_shared_pairs(Model *model, const Ready *ready, float error, const Steps *steps) noexcept nogil:
    cdef float side = side_of(model, ready)
    cdef const PairList *pairs = &ready.pairs
    if model.pp != NULL:
        improve_pairs(model.pp, pairs.places, pairs.signs, pairs.count, error, side, steps.pair, steps.pair_turn)
    pairs = &ready.relative
    if model.relative_pp != NULL:
        improve_pairs(model.relative_pp, pairs.places, pairs.signs, pairs.count, error, side, steps.relative_pair,
                      steps.relative_pair_turn)


cdef void improve_model(Model *model, const Ready *ready, float error, const Steps *steps,
                        const Ready *ahead) noexcept nogil:
    """One step down the logistic loss, whose gradient by the value is the error of the chance."""
    cdef float gradient
    cdef int i
    if error == 0:
        return
    improve_view(model, &ready.view[BLACK], error, steps, &ahead.view[BLACK])
    improve_view(model, &ready.view[WHITE], -error, steps, &ahead.view[WHITE])
    for i in range(ready.count):
        gradient = error if is_black(ready.numbers[i]) else -error
        improve_cell(model.piece + kinds.kind[ready.numbers[i]], gradient, steps.piece)
    improve_shared_pairs(model, ready, error, steps)
    improve_turn(model, ready, error if ready.side == BLACK else -error, steps)


cdef double loss_of(float p, float target) noexcept nogil:
    """Squared error of the chance: a progress figure that costs nothing."""
    return (p - target) * (p - target)


cdef double learn(Model *model, const Record *records, long long count, const Steps *steps, float scale,
                  float share) noexcept nogil:
    """One pass over the records in their order; returns the sum of squared errors before each step.

    While a position is learned the triples of the next one are asked for, a few at a time: asked for all at once they
    would fill what a core can wait for, and it would stand still.
    """
    cdef Ready ready[2]
    cdef Ready *now
    cdef Ready *ahead
    cdef double loss = 0
    cdef long long i
    cdef float p
    memset(ready, 0, sizeof(ready))
    make_ready(records, &ready[0], scale, share)
    for i in range(count):
        now = &ready[i % 2]
        ahead = &ready[(i + 1) % 2]
        if i + 1 < count:
            make_ready(records + i + 1, ahead, scale, share)
        p = chance(value_of(model, now, ahead))
        loss += loss_of(p, now.target)
        improve_model(model, now, p - now.target, steps, ahead)
    return loss


cdef void value_records(const Model *model, const Record *records, float *values, long long count) noexcept nogil:
    cdef Ready ready
    cdef long long i
    memset(&ready, 0, sizeof(ready))
    for i in range(count):
        make_ready(records + i, &ready, 600, 0)
        values[i] = value_of(model, &ready, &ready)


# ---- the door ----

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
        cdef const Record[::1] given = records
        cdef Steps chosen
        cdef double loss = 0
        cdef float unit = scale, share = result_share
        (chosen.piece, chosen.king_piece, chosen.king_king_piece, chosen.pair, chosen.zone, chosen.triple,
         chosen.pair_turn, chosen.relative_pair, chosen.relative_pair_turn) = steps
        if given.shape[0]:
            with nogil:
                loss = learn(&self.model, &given[0], given.shape[0], &chosen, unit, share)
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
