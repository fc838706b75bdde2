"""Internals of the core for tests and benches: incremental values, and the same values from scratch."""

from libc.string cimport memcmp, memset

from core_ext.base.atomic cimport load_word, store_word
from core_ext.base.memory cimport allocations, failing_allocation, release_large
from core_ext.board cimport Board, names_of, squares_of
from core_ext.engine cimport Table
from core_ext.eval.bonapiece cimport *
from core_ext.eval.evaluate cimport *
from core_ext.eval.nnue.accumulator cimport MAX_WIDTH, NnueState, accumulate
from core_ext.eval.nnue.forward cimport accumulate_from_scratch
from core_ext.search.history cimport *
from core_ext.search.movepick cimport *
from core_ext.search.searcher cimport allocate_histories
from core_ext.search.tt cimport *
from core_ext.shogi.bitboard cimport Bitboard, attacks, pop, some, to_bitboard
from core_ext.shogi.hand cimport *
from core_ext.shogi.movegen cimport *
from core_ext.shogi.position cimport *
from core_ext.shogi.see cimport see_at_least
from core_ext.shogi.sfen cimport *
from core_ext.shogi.types cimport *

cdef extern from "base/simd.h" nogil:
    int greatest(const int32_t *pairs, int count) noexcept

_REPETITIONS = {
    NO_REPETITION: "none", REPETITION_DRAW: "draw", REPETITION_WIN: "win", REPETITION_LOSS: "lose",
    REPETITION_SUPERIOR: "superior", REPETITION_INFERIOR: "inferior",
}


def piece_attacks(color: int, piece_type: int, square: int, occupied):
    """Return the squares (0 to 80) that a piece attacks if the squares `occupied` are taken."""
    cdef Bitboard found = attacks(color, piece_type, square, to_bitboard(occupied))
    squares = []
    while some(found):
        squares.append(pop(&found))
    return squares


def hand_facts(counts, other):
    """Return (counts read back, does the first hand cover the second?, types in it); counts go from pawn to gold."""
    cdef Hand one = 0, two = 0
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        one += <Hand><int>counts[<Py_ssize_t>(piece_type - 1)] * hand_one(piece_type)
        two += <Hand><int>other[<Py_ssize_t>(piece_type - 1)] * hand_one(piece_type)
    read = [hand_count(one, piece_type) for piece_type in range(PAWN, GOLD + 1)]
    held = [bool(hand_has(one, piece_type)) for piece_type in range(PAWN, GOLD + 1)]
    return read, bool(hand_covers(one, two)), held


cdef class Probe(Board):
    """A Board with access to every field."""

    def push_null(self):
        reserve_plies(&self.pos, 1)
        do_null(&self.pos)

    def pop_null(self):
        undo_null(&self.pos)

    def pawn_history_slot(self):
        """Return the index of the position's table in the pawn history."""
        return pawn_slot(&self.pos)

    def state(self):
        """Return everything that a move changes, by name."""
        return {
            "board_key": self.pos.state.board_key,
            "hand_key": self.pos.state.hand_key,
            "group_keys": [self.pos.state.group_keys[group] for group in range(GROUPS)],
            "checkers": squares_of(self.pos.state.checkers),
            "pinned": squares_of(self.pos.state.pinned),
            "hands": [self.pos.state.hand[0], self.pos.state.hand[1]],
            "kinds": [squares_of(self.pos.kind[kind]) for kind in range(PIECE_TYPES)],
            "colors": [squares_of(self.pos.color[color]) for color in range(COLORS)],
            "board": [self.pos.board[square] for square in range(SQUARES)],
            "kings": [self.pos.king[color] for color in range(COLORS)],
            "side": self.pos.side,
            "ply": self.pos.ply,
        }

    def dirty(self):
        """Return what the last move changed: for each piece (piece, square, number in hand) before and after."""
        cdef Dirty dirty
        find_dirty(self.pos.state, &dirty)
        places = [format_square(square) for square in range(SQUARES)] + ["hand"]
        return [(piece_letters(changed.old_piece), places[changed.old_square], changed.old_held,
                 piece_letters(changed.new_piece), places[changed.new_square], changed.new_held)
                for changed in dirty.changed[:dirty.count]]

    def generate(self, kind: str):
        """Return the moves of the generator `captures`, `quiets` or `drops`. The side to move is not in check."""
        cdef Move moves[MAX_MOVES]
        cdef Move *last
        if kind == "captures":
            last = generate_captures(&self.pos, moves)
        elif kind == "quiets":
            last = generate_quiets(&self.pos, moves)
        else:
            last = generate_drops(&self.pos, moves)
        return names_of(moves, last)

    def legal_words(self):
        """Return every 16-bit word that is_legal accepts, as text."""
        cdef int word
        return [format_move(<Move>word) for word in range(1 << 16) if is_legal(&self.pos, <Move>word)]

    def has_legal_move(self):
        return bool(has_legal_move(&self.pos))

    def see_at_least(self, move: str, threshold: int):
        return bool(see_at_least(&self.pos, <Move>parse_move(&self.pos, move), threshold))

    def find_repetition(self, limit: int = 1000):
        """Return the repetition as the search judges it."""
        return _REPETITIONS[find_repetition(&self.pos, limit)]

    def time_legal(self, long long calls, bint include_all=True):
        """Generate the legal moves `calls` times and return the number of moves written."""
        cdef Move moves[MAX_MOVES]
        cdef uint64_t written = 0
        cdef long long _
        with nogil:
            for _ in range(calls):
                written += generate_legal(&self.pos, moves, include_all) - moves
        return written


def bonapieces(sfen: str):
    """Return the piece lists of a position from Black's view and from White's, without the padding."""
    cdef Board board = Board(sfen)
    cdef PieceLists lists
    cdef int count = list_pieces(&board.pos, &lists), i
    return [lists.numbers[BLACK][i] for i in range(count)], [lists.numbers[WHITE][i] for i in range(count)]


def bonapiece_tables():
    """Return (inverse, mirror) by number."""
    return [features.inverse[i] for i in range(BONAPIECES)], [features.mirror[i] for i in range(BONAPIECES)]


cdef struct WalkCounts:
    uint64_t evaluated, wrong
    uint64_t kings, captures, promotions, drops     # moves by sort
    uint64_t nulls, undone

cdef struct Walk:
    Position pos
    Evaluator evaluator
    uint64_t state          # of random_word
    WalkCounts counts


cdef uint64_t random_word(uint64_t *state) noexcept nogil:
    """xorshift64*"""
    state[0] ^= state[0] >> 12
    state[0] ^= state[0] << 25
    state[0] ^= state[0] >> 27
    return state[0] * <uint64_t>0x2545F4914F6CDD1D


cdef bint sums_agree(NnueState *nnue, const Position *pos) noexcept nogil:
    cdef int16_t from_scratch[COLORS * MAX_WIDTH]
    cdef const int16_t *sums[COLORS]
    cdef size_t width = nnue.weights.width
    accumulate(nnue, pos, sums)
    accumulate_from_scratch(nnue.weights, pos, from_scratch)
    return not memcmp(sums[0], from_scratch, 2 * width) and not memcmp(sums[1], from_scratch + width, 2 * width)


cdef void check_value(Walk *walk) noexcept nogil:
    """Compare the value with one from scratch. For a network, compare all sums, and the value every tenth time."""
    cdef bint network = walk.evaluator.kind == NNUE_EVALUATION
    walk.counts.evaluated += 1
    if not network or random_word(&walk.state) % 10 == 0:
        walk.counts.wrong += evaluate(&walk.evaluator, &walk.pos) != evaluate_from_scratch(&walk.evaluator, &walk.pos)
    if network:
        walk.counts.wrong += not sums_agree(&walk.evaluator.nnue, &walk.pos)


cdef void count_sorts(Walk *walk, Move move) noexcept nogil:
    cdef int piece = moved_piece(walk.pos.state.move)
    walk.counts.kings += not is_drop(move) and type_of(piece) == KING
    walk.counts.captures += captured_piece(walk.pos.state.move) != 0
    walk.counts.promotions += is_promotion(move)
    walk.counts.drops += is_drop(move)


cdef void step_somewhere(Walk *walk) noexcept nogil:
    """Make a random legal move, preferably a capture or king move; sometimes a null move."""
    cdef Move moves[MAX_MOVES]
    cdef Move *last = generate_legal(&walk.pos, moves, True)
    cdef Move move
    cdef int tries = 3
    if random_word(&walk.state) % 16 == 0 and not some(walk.pos.state.checkers):
        do_null(&walk.pos)
        walk.counts.nulls += 1
        return
    while True:
        move = moves[random_word(&walk.state) % <uint64_t>(last - moves)]
        tries -= 1
        if not tries or walk.pos.board[to_square(move)] or \
                (not is_drop(move) and type_of(walk.pos.board[from_square(move)]) == KING):
            break
    do_move(&walk.pos, move)
    count_sorts(walk, move)


cdef void wander(Walk *walk, uint64_t positions, int plies) noexcept nogil:
    """Walk up and down the tree at random. Check most positions for a while, then few, so that updates fall behind."""
    cdef int depth = 0, one_in = 1
    while walk.counts.evaluated < positions:
        if depth < plies and has_legal_move(&walk.pos) and (depth == 0 or random_word(&walk.state) % 4):
            step_somewhere(walk)
            depth += 1
        elif depth == 0:
            return
        else:
            depth -= 1
            walk.counts.undone += 1
            if walk.pos.state.move == NULL_MOVE:
                undo_null(&walk.pos)
            else:
                undo_move(&walk.pos)
        if random_word(&walk.state) % 64 == 0:
            one_in = 1 + random_word(&walk.state) % 12
        if random_word(&walk.state) % one_in == 0:
            check_value(walk)


def walk_evaluator(weights, sfen: str, uint64_t seed, uint64_t positions, int plies=200):
    """Compare incremental values with values from scratch on random walks; return counts, also of moves by sort."""
    cdef Walk walk
    memset(&walk, 0, sizeof(walk))
    walk.state = seed * 2 + 1
    allocate_position(&walk.pos, plies + 16)
    init_evaluator(&walk.evaluator, weights)
    try:
        parse_sfen(&walk.pos, sfen)
        with nogil:
            wander(&walk, positions, plies)
    finally:
        free_evaluator(&walk.evaluator)
        free_position(&walk.pos)
    return walk.counts


def first_greatest(const int32_t[:, ::1] pairs):
    """Return the row of the first pair with the greatest first number; there must be one."""
    return greatest(&pairs[0, 0], <int>pairs.shape[0])


_PURPOSES = {"main": PICK_MAIN, "quiescence": PICK_QUIESCENCE, "probcut": PICK_PROBCUT}


cdef class PickerProbe:
    """The staged move picker over histories filled at random, so that its order differs from seed to seed."""

    cdef Histories *histories
    cdef void *block            # for release_large
    cdef uint64_t state         # of random_word
    cdef readonly list scores   # scores of the last moves picked, except the hash move, which has none
    cdef readonly list peeked   # with `peek`: the move announced before each of them, or None

    def __cinit__(self, seed: int):
        cdef size_t i
        cdef int16_t *entry
        self.histories = allocate_histories(&self.block, False)
        self.state = seed * 2 + 1
        entry = <int16_t *>self.histories
        for i in range(sizeof(Histories) // sizeof(int16_t)):
            entry[i] = <int16_t>(<int>(random_word(&self.state) % 12001) - 6000)

    def __dealloc__(self):
        release_large(self.block)

    def pick(self, Probe probe not None, purpose: str, hash_move: str = "", ply: int = 9, threshold: int = 0,
             skip_quiets_after: int = 1000, peek: bool = False):
        """Return the moves in order; set skip_quiets after some; `peek` asks for the next move before each."""
        cdef Picker picker
        cdef CheckInfo check
        cdef ScoredMove scored[2 * MAX_MOVES]
        cdef int first = parse_move(&probe.pos, hash_move) if hash_move else NO_MOVE
        init_check_info(&probe.pos, &check)
        init_picker(&picker, &probe.pos, self.histories, scored, _PURPOSES[purpose], <Move>first)
        picker.check_info = &check
        picker.ply = ply
        picker.threshold = threshold
        picker.pawn_history = &self.histories.pawn[random_word(&self.state) & 255]
        for i in range(CONTINUATIONS):
            picker.continuations[i] = &self.histories.continuation[1 + i][random_word(&self.state) % SQUARES]
        return self._drain(&picker, skip_quiets_after, peek)

    cdef list _drain(self, Picker *picker, int skip_quiets_after, bint peek):
        cdef Move move, next_one
        found, self.scores, self.peeked = [], [], []
        while True:
            picker.skip_quiets = len(found) >= skip_quiets_after
            next_one = peek_move(picker) if peek else <Move>NO_MOVE
            move = next_move(picker)
            if not move:
                return found
            self.peeked.append(format_move(next_one) if next_one else None)
            found.append(format_move(move))
            if picker.current != picker.start:
                self.scores.append((picker.current - 1).score)


cdef entry_tuple(const TTData *data):
    if not data.hit:
        return None
    return data.move, data.value, data.static_value, data.depth, data.bound, bool(data.on_pv)


cdef class TableProbe(Table):
    """The transposition table's own functions, and its entries as raw words."""

    def store(self, key: int, move: int, value: int, static_value: int, depth: int, bound: int, on_pv: bool):
        tt_store(&self.table, key, <Move><int>move, value, static_value, depth, bound, on_pv)

    def probe(self, key: int):
        """Return (move, value, static value, depth, bound, on_pv), or None."""
        cdef TTData data
        tt_probe(&self.table, key, &data)
        return entry_tuple(&data)

    def bucket(self, key: int):
        """Return the (check, data) words of the key's bucket. Keys that differ only in the lower 32 bits share one."""
        cdef TTEntry *entry = tt_bucket(&self.table, key)
        return [(load_word(&entry[i].check), load_word(&entry[i].data)) for i in range(BUCKET)]

    def write(self, key: int, place: int, check: int, data: int):
        """Overwrite an entry of the bucket, as another thread might."""
        cdef TTEntry *entry = tt_bucket(&self.table, key) + <int>place
        store_word(&entry.check, check)
        store_word(&entry.data, data)


cdef int store_and_check(TranspositionTable *table, uint64_t key, uint64_t noise) noexcept nogil:
    """Store two values whose difference follows from the key; return whether the key finds two that do not fit."""
    cdef TTData data
    tt_store(table, key, <Move>(noise | 1), <int16_t>(key ^ noise), <int16_t>(key >> 16 ^ noise), noise >> 60,
             1 + (noise >> 32) % 3, 0)
    tt_probe(table, key, &data)
    return data.hit and <int16_t>(data.value ^ key) != <int16_t>(data.static_value ^ key >> 16)


def wrong_finds(Table table not None, uint64_t seed, int count, int keys):
    """Store and probe `count` times in one bucket, without the GIL; return how many entries found mix two stores."""
    cdef uint64_t key
    cdef int _, wrong = 0
    with nogil:
        for _ in range(count):
            key = random_word(&seed) % keys * <uint64_t>0x9E3779B9
            wrong += store_and_check(&table.table, key, random_word(&seed))
    return wrong


cdef void scramble_below(TranspositionTable *table, Position *pos, int depth, uint64_t *state) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *end
    cdef uint64_t word = random_word(state)
    tt_store(table, full_key(pos), <Move>word, <int16_t>(word >> 16), <int16_t>(word >> 32),
             <int>(random_word(state) % 256) - 8, 1 + (word >> 48) % 3, word >> 63)
    if depth == 0:
        return
    end = generate_legal(pos, moves, True)
    while move < end:
        do_move(pos, move[0])
        scramble_below(table, pos, depth - 1, state)
        undo_move(pos)
        move += 1


def scramble_table(Table table not None, Board board not None, int depth, uint64_t seed):
    """Store random words as the results of all positions up to `depth` plies below, without the GIL."""
    cdef Position pos
    memset(&pos, 0, sizeof(pos))
    allocate_position(&pos, 16)
    copy_position(&pos, &board.pos, depth + 1)
    with nogil:
        scramble_below(&table.table, &pos, depth, &seed)
    free_position(&pos)


def fill_table(Table table not None, uint64_t seed):
    """Overwrite every word of a table."""
    cdef uint64_t i
    for i in range(table.table.buckets * BUCKET):
        store_word(&table.table.entries[i].check, random_word(&seed))
        store_word(&table.table.entries[i].data, random_word(&seed))


def table_entry(Table table not None, Board board not None):
    """Return the table's entry of a position as TableProbe.probe does."""
    cdef TTData data
    tt_probe(&table.table, full_key(&board.pos), &data)
    return entry_tuple(&data)


def table_value(value: int, ply: int):
    """Return the value stored for a value at this ply, and the value that a probe at this ply returns for it."""
    cdef int stored = value_to_table(value, ply)
    return stored, value_from_table(stored, ply)


HISTORY_LIMITS = {
    "butterfly": BUTTERFLY_LIMIT, "capture": CAPTURE_LIMIT, "continuation": CONTINUATION_LIMIT,
    "pawn": PAWN_HISTORY_LIMIT, "correction": CORRECTION_LIMIT,
}


def updated_entry(value: int, bonus: int, limit: int):
    """Return a history entry after one update."""
    cdef int16_t entry = value
    update_entry(&entry, bonus, limit)
    return entry


def fail_allocation(number: int):
    """Let the `number`-th allocation of the core from now on fail once, or none (0); return how many there were."""
    cdef uint64_t made = load_word(&allocations)
    store_word(&allocations, 0)
    store_word(&failing_allocation, number)
    return made
