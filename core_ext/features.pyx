"""Arrays of positions and many positions at once, for training and research with numpy.

`boards` is a Board, a sequence of boards or a BoardBatch. Arrays have a place for each board; planes and labels are
seen from the side to move, White's board turned round. A given array is filled and returned: it must have the right
type and shape, in C order. The GIL is released; boards that other threads change meanwhile count as they were.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from core_ext.base.memory cimport allocate_zeroed
from core_ext.base.thread cimport Thread, end_thread, free_thread, join_thread, start_thread
from core_ext.board cimport Board, declaration_rule
from core_ext.eval.bonapiece cimport LISTED, PieceLists, list_pieces
from core_ext.eval.evaluate cimport Evaluator, evaluate, free_evaluator, init_evaluator
from core_ext.eval.nnue.features cimport (
    FeatureSet, VIEWS, Viewpoint, fill_features, king_feature, piece_feature, viewpoint_of,
)
from core_ext.shogi.ending cimport find_end
from core_ext.shogi.labels cimport LABELS, MOVE_WORDS, NO_LABEL, move_labels, write_label_moves
from core_ext.shogi.movegen cimport is_legal
from core_ext.shogi.planes cimport (
    DLSHOGI_BOARD, DLSHOGI_REST, PIECE_PLANES, write_dlshogi_planes, write_piece_planes,
)
from core_ext.shogi.position cimport (
    Position, allocate_position, copy_position, do_move, do_null, free_position, full_key, game_length,
    has_both_kings, in_check, reserve_plies, undo_move, undo_null,
)
from core_ext.shogi.sfen cimport format_move, format_sfen, word_of
from core_ext.shogi.types cimport (
    COLORS, Move, NO_MOVE, NULL_MOVE, SQUARES, int8_t, int32_t, uint8_t,
)

cdef enum:
    MAX_THREADS = 64
    MISSING_KING = -1   # first feature of a board without both kings

cdef Board _start = Board()
_float32 = np.dtype(np.float32)
_labels = np.frombuffer(bytearray((<char *>move_labels)[:sizeof(move_labels)]), np.uint16).reshape(COLORS, MOVE_WORDS)


# ---- work on many positions ----

ctypedef void (*Work)(const Job *job, Py_ssize_t i, int share) noexcept nogil   # on position i

cdef struct Job:
    const Position *positions
    Py_ssize_t count
    int shares
    Work work
    void *out               # an array with a place for each position
    void *second            # another one, or NULL
    const FeatureSet *features
    Evaluator *evaluators   # one for each share
    int rule
    int max_moves

cdef struct Share:
    const Job *job
    int number
    bint started
    Thread thread


cdef void work_share(const Share *share) noexcept nogil:
    cdef const Job *job = share.job
    cdef Py_ssize_t i
    for i in range(job.count * share.number // job.shares, job.count * (share.number + 1) // job.shares):
        job.work(job, i, share.number)


cdef void run_share(void *argument) noexcept nogil:
    cdef Share *share = <Share *>argument
    work_share(share)
    end_thread(&share.thread)


cdef int run_job(Job *job, int threads) except -1:
    """Work on all positions with up to `threads` threads, without the GIL."""
    cdef Share[MAX_THREADS] shares
    cdef int i
    memset(shares, 0, sizeof(shares))
    job.shares = <int>max(1, min(threads, job.count, MAX_THREADS))
    for i in range(job.shares):
        shares[i].job, shares[i].number = job, i
        shares[i].started = i > 0 and start_thread(&shares[i].thread, run_share, &shares[i])
    with nogil:
        for i in range(job.shares):
            if not shares[i].started:
                work_share(&shares[i])
        for i in range(job.shares):
            if shares[i].started:
                join_thread(&shares[i].thread)
    for i in range(job.shares):
        free_thread(&shares[i].thread)
    return 0


cdef str described(object array):
    return f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else repr(array)[:80]


cdef object prepared(object out, tuple shape, object kind):
    """Return the array to fill: a new one, or `out`. ValueError if it has another type or shape."""
    if out is None:
        return np.empty(shape, kind)
    if type(out) is not np.ndarray or out.shape != shape or out.dtype != kind or not out.flags.carray:
        raise ValueError(f"give an array {np.dtype(kind)}{list(shape)} in C order that can be written, "
                         f"not {described(out)}")
    return out


cdef void *data_of(object array) except? NULL:
    """Return where the array begins; it stays there, as nobody can resize it while it is referred to."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_SIMPLE)
    PyBuffer_Release(&view)
    return view.buf


cdef tuple filled(object boards, Job *job, list wanted):
    """Return the one or two arrays of a job; each is wanted as the given array or None, shape for a board and type."""
    cdef BoardBatch batch = None if isinstance(boards, Board) else batch_of(boards)
    cdef list arrays
    job.count = 1 if batch is None else batch.count
    arrays = [prepared(out, (job.count, *shape), kind) for out, shape, kind in wanted]
    job.out = data_of(arrays[0])
    job.second = data_of(arrays[1]) if len(arrays) > 1 else NULL
    if batch is None:       # with the GIL, so that the board stays as it is
        job.positions = &(<Board>boards).pos
        job.work(job, 0, 0)
    else:
        batch._run(job)
    return tuple(arrays)


# ---- planes, labels, indices ----

cdef void dlshogi_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    write_dlshogi_planes(&job.positions[i], <float *>job.out + i * DLSHOGI_BOARD * SQUARES,
                         <float *>job.second + i * DLSHOGI_REST * SQUARES)


def dlshogi_planes(boards, planes1=None, planes2=None):
    """Return the input features of dlshogi, float32 [n, 62, 9, 9] and [n, 57, 9, 9] (T. Yamaoka, dlshogi).

    The first has, for the side to move, then for its opponent: 14 planes of its pieces, in the order P L N S B R G K +P
    +L +N +S +B +R, 14 of the squares that each kind attacks, 3 of those attacked by one, two and three pieces or more.
    The second has for each side planes of ones, as many as pieces in hand, of 8 for P, 4 L, 4 N, 4 S, 4 G, 2 B, 2 R;
    the last plane is check. The last two axes are files and ranks.
    """
    cdef Job job
    job.work = dlshogi_work
    return filled(boards, &job, [(planes1, (DLSHOGI_BOARD, 9, 9), _float32),
                                 (planes2, (DLSHOGI_REST, 9, 9), _float32)])


cdef void piece_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    write_piece_planes(&job.positions[i], <float *>job.out + i * PIECE_PLANES * SQUARES)


def piece_planes(boards, planes=None):
    """Return simple planes, float32 [n, 42, 9, 9].

    The first 28 are the pieces of the side to move and of its opponent, in the order P L N S B R G K +P +L +N +S +B +R;
    each of the last 14 is filled with the number in a hand, of P L N S B R G for both. The last two axes are files and
    ranks.
    """
    cdef Job job
    job.work = piece_work
    return filled(boards, &job, [(planes, (PIECE_PLANES, 9, 9), _float32)])[0]


cdef void moves_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    write_label_moves(&job.positions[i], <Move *>job.out + i * LABELS)


def label_moves(boards, moves=None):
    """Return the legal move of each label, 0 if there is none: uint16 [n, 2187]."""
    cdef Job job
    job.work = moves_work
    return filled(boards, &job, [(moves, (LABELS,), np.uint16)])[0]


def label_mask(boards, mask=None):
    """Return which labels have a legal move, dominated or not: bool [n, 2187]."""
    moves = label_moves(boards)
    return np.not_equal(moves, NO_MOVE, prepared(mask, moves.shape, np.bool_))


def dlshogi_label(moves, turn):
    """Return the label of a move in dlshogi's policy, 0 to 2186; of an array, those of its moves (65535: no move).

    It is 81 times the way of the move, plus its target, from the view of `turn`, which may be an array too: ten
    directions (up, up left, up right, left, right, down, down left, down right, knight left, knight right), the same
    with promotion, drops of P L N S B R G. ValueError if a single move is none.
    """
    if not np.isin(turn, (0, 1)).all():
        raise ValueError(f"not a colour: {turn!r}")
    many = isinstance(moves, np.ndarray)
    words = moves if many else word_of(moves)
    if many and words.size and not 0 <= words.min() <= words.max() < MOVE_WORDS:
        raise ValueError(f"not moves of 15 bits: from {words.min()} to {words.max()}")
    found = _labels[np.asarray(turn, np.intp), words]
    if not many and found == NO_LABEL:
        raise ValueError(f"not a move: '{moves}'")
    return found if many else int(found)


def dlshogi_move(label, Board board not None):
    """Return the legal move with this label; ValueError if there is none."""
    if not 0 <= label < LABELS or not (move := int(label_moves(board)[0, label])):
        raise ValueError(f"no legal move has the label {label} in '{format_sfen(&board.pos)}'")
    return format_move(<Move>move)


cdef class FeatureNumbers:
    """The numbers of a feature set of networks, described by a `usi_engine.evaluation.parts.FeatureSet`."""

    cdef FeatureSet tables

    def __cinit__(self, described):
        fill_features(&self.tables, described)

    def views(self):
        """Return each Bonapiece number as Black sees it, as White does, and both mirrored: int16 [4, 1548]."""
        return np.frombuffer((<char *>self.tables.number)[:sizeof(self.tables.number)], np.int16).reshape(VIEWS, -1)


cdef void write_features(const FeatureSet *used, const Position *pos, const PieceLists *lists, int color,
                         int32_t *out) noexcept nogil:
    """Write the features of a perspective: of the pieces, then of its own king and the other in turn."""
    cdef Viewpoint viewpoint = viewpoint_of(used, color, pos.king[color])
    cdef int i, which
    for i in range(LISTED):
        out[i] = piece_feature(used, viewpoint, lists.numbers[0][i])
    for which in range(used.kings):
        for i in range(COLORS):
            out[LISTED + 2 * which + i] = king_feature(used, viewpoint, which, color ^ i, pos.king[color ^ i])


cdef void features_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    cdef const Position *pos = &job.positions[i]
    cdef int active = LISTED + 2 * job.features.kings
    cdef int32_t *out = <int32_t *>job.out + 2 * i * active
    cdef PieceLists lists
    out[0] = MISSING_KING
    if has_both_kings(pos):
        list_pieces(pos, &lists)
        write_features(job.features, pos, &lists, pos.side, out)
        write_features(job.features, pos, &lists, pos.side ^ 1, out + active)


def feature_indices(boards, FeatureNumbers numbers not None, out=None):
    """Return the active features of a network, int32 [n, 2, active], the side to move first. See nnue_indices."""
    cdef Job job
    job.work, job.features = features_work, &numbers.tables
    found = filled(boards, &job, [(out, (COLORS, LISTED + 2 * numbers.tables.kings), np.int32)])[0]
    for i in np.flatnonzero(found[:, 0, 0] == MISSING_KING):
        raise ValueError(f"a king is missing on board {i}")
    return found


# ---- many boards ----

cdef void end_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    cdef int winner
    (<uint8_t *>job.out)[i] = <uint8_t>find_end(&job.positions[i], job.rule, job.max_moves, &winner)
    (<int8_t *>job.second)[i] = <int8_t>(winner if (<uint8_t *>job.out)[i] else -1)


cdef void value_work(const Job *job, Py_ssize_t i, int share) noexcept nogil:
    (<int32_t *>job.out)[i] = evaluate(&job.evaluators[share], &job.positions[i])


cdef BoardBatch batch_of(object boards):
    """Return the batch, or one with copies of the boards as they are now."""
    cdef list given
    cdef BoardBatch batch
    if isinstance(boards, BoardBatch):
        return <BoardBatch>boards
    given = list(boards)
    batch = BoardBatch(len(given))
    for i, board in enumerate(given):
        batch[i] = board
    return batch


cdef bint may_play(const Position *pos, Move move) noexcept nogil:
    """Return whether this is a legal move, or a pass out of check."""
    return not in_check(pos) if move == NULL_MOVE else is_legal(pos, move)


cdef class BoardBatch:
    """Many boards with their games, moved and read together; `BoardBatch(count, sfen, threads)`.

    Each behaves as a Board; `batch[i]` is a copy of one, and `batch[i] = board` replaces it. Arrays are read by
    `threads` threads. One thread at a time may use a batch; a second one gets a RuntimeError.
    """

    cdef Position *positions
    cdef Evaluator *evaluators  # one for each thread
    cdef object weights         # of the evaluators
    cdef Py_ssize_t count
    cdef int threads
    cdef Board start
    cdef bint busy

    def __cinit__(self, Py_ssize_t count, sfen: str = "startpos", int threads=1):
        cdef Py_ssize_t i
        if not 0 <= count <= 1 << 24 or not 0 < threads <= MAX_THREADS:
            raise ValueError(f"cannot make {count} boards with {threads} threads: at most {1 << 24} with {MAX_THREADS}")
        self.start = _start if sfen == "startpos" else Board(sfen)
        self.threads = threads
        self.positions = <Position *>allocate_zeroed(count + 1, sizeof(Position))
        if self.positions == NULL:
            raise MemoryError(f"no memory for {count} boards")
        self.count = count
        for i in range(count):
            allocate_position(&self.positions[i], 64)
            copy_position(&self.positions[i], &self.start.pos, 0)

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.count):
            free_position(&self.positions[i])
        for i in range(self.threads if self.evaluators != NULL else 0):
            free_evaluator(&self.evaluators[i])
        free(self.evaluators)
        free(self.positions)

    cdef int _check_idle(self) except -1:
        if self.busy:
            raise RuntimeError("another thread uses this batch")
        return 0

    cdef int _run(self, Job *job) except -1:
        """Work on all boards; RuntimeError if another thread does."""
        self._check_idle()
        job.positions = self.positions
        self.busy = True
        run_job(job, self.threads)
        self.busy = False
        return 0

    def __len__(self):
        return self.count

    cdef Position *_position(self, Py_ssize_t i) except NULL:
        self._check_idle()
        if not 0 <= i < self.count:
            raise IndexError(f"no board {i} in a batch of {self.count}")
        return &self.positions[i]

    def __getitem__(self, Py_ssize_t i):
        cdef Board board = Board.__new__(Board)
        copy_position(&board.pos, self._position(i), 64)
        return board

    def __iter__(self):
        return map(self.__getitem__, range(self.count))

    def __setitem__(self, Py_ssize_t i, Board board not None):
        copy_position(self._position(i), &board.pos, 64)

    cdef object _checked(self, object array, str kinds, str wanted):
        """Return the argument as an array with a place for each board. ValueError."""
        given = np.asarray(array)
        if given.shape != (self.count,) or given.dtype.kind not in kinds:
            raise ValueError(f"give {wanted} for each of {self.count} boards, not {described(given)}")
        return given

    cdef list _chosen(self, object mask):
        """Return the numbers of the boards in a mask, all without one."""
        if mask is None:
            return list(range(self.count))
        return np.flatnonzero(self._checked(mask, "b", "a bool")).tolist()

    def push(self, moves):
        """Make a legal move on each board: 16 bits in an array of integers, or a list for `Board.push`; 0 is no move.

        ValueError for an illegal move; then no board changes.
        """
        asked = moves if isinstance(moves, np.ndarray) else list(moves)
        given = asked if asked is moves else [0 if move == NO_MOVE else word_of(move) for move in asked]
        given = self._checked(given, "iu", "a move")
        cdef Move[::1] words = given.astype(np.int64).clip(-1, MOVE_WORDS).astype(np.uint16)    # no moves stay no moves
        cdef Py_ssize_t i
        self._check_idle()
        for i in range(self.count):
            if words[i] != NO_MOVE and not may_play(&self.positions[i], words[i]):
                raise ValueError(f"board {i}: illegal move '{asked[i]}' in '{format_sfen(&self.positions[i])}'")
            reserve_plies(&self.positions[i], 1)
        for i in range(self.count):
            if words[i] == NULL_MOVE:
                do_null(&self.positions[i])
            elif words[i] != NO_MOVE:
                do_move(&self.positions[i], words[i])

    def pop(self, mask=None):
        """Unmake the last move of each board, or of those in a mask, bool [n]; IndexError if one has none."""
        cdef list chosen = self._chosen(mask)
        cdef Py_ssize_t i
        for i in chosen:
            if not game_length(self._position(i)):
                raise IndexError(f"board {i}: no move to take back")
        for i in chosen:
            if self.positions[i].state.move == NULL_MOVE:
                undo_null(&self.positions[i])
            else:
                undo_move(&self.positions[i])

    def reset(self, mask=None, sfen: str | None = None):
        """Set up all boards, or those in a mask, bool [n], anew: with the batch's sfen, or with this one."""
        cdef Board start = self.start if sfen is None else Board(sfen)
        cdef Py_ssize_t i
        for i in self._chosen(mask):
            copy_position(self._position(i), &start.pos, 64)

    def legal_mask(self, mask=None):
        """Return which labels have a legal move on each board: see `label_mask`."""
        return label_mask(self, mask)

    def planes(self, planes1=None, planes2=None):
        """Return the input features of dlshogi of each board: see `dlshogi_planes`."""
        return dlshogi_planes(self, planes1, planes2)

    def turns(self):
        """Return the sides to move: uint8 [n]."""
        return np.array([self.positions[i].side for i in range(self.count)], np.uint8)

    def hashes(self):
        """Return the key of each board: uint64 [n]."""
        return np.array([full_key(&self.positions[i]) for i in range(self.count)], np.uint64)

    def outcomes(self, declaration: str = "NoEnteringKing", int max_moves=0):
        """Return how each game has ended and who has won: uint8 [n] and int8 [n]. Arguments as for `Board.outcome`.

        The first is 0 while the game goes on, else 1 and more in the order of Termination. The second is BLACK, WHITE
        or -1.
        """
        cdef Job job
        job.work, job.rule, job.max_moves = end_work, declaration_rule(declaration), max_moves
        return filled(self, &job, [(None, (), np.uint8), (None, (), np.int8)])

    cdef int _set_weights(self, object weights) except -1:
        """Prepare the evaluators; they keep their sums while the weights are the same."""
        cdef int i
        if self.evaluators != NULL and weights is self.weights:
            return 0
        if self.evaluators == NULL:
            self.evaluators = <Evaluator *>allocate_zeroed(self.threads, sizeof(Evaluator))
            if self.evaluators == NULL:
                raise MemoryError("no memory for evaluators")
        self.weights = NotImplemented   # until all have the new ones
        for i in range(self.threads):
            init_evaluator(&self.evaluators[i], weights)
        self.weights = weights
        return 0

    def static_values(self, evaluation=None):
        """Return the value of each board without a search: int32 [n], in centipawns for the side to move.

        `evaluation` is what `load_evaluation` returned, or None for piece values.
        """
        cdef Job job
        self._check_idle()
        self._set_weights(evaluation)
        job.work, job.evaluators = value_work, self.evaluators
        return filled(self, &job, [(None, (), np.int32)])[0]
