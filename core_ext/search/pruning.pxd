"""The selective rules of the search, each a small function of the node with its reason.

The constants stand in tune.pyx. Most ideas are common to the modern alpha-beta engines; the source named is the one
whose form was followed, the numbers are ours.
"""

from core_ext.shogi.bitboard cimport Bitboard
from core_ext.search.history cimport (
    BY_CASTLE, BY_HANDS, BY_MOVE, BY_OTHER_CASTLE, BY_PAWNS, CORRECTION_SLOTS, PieceTo, SHAPES, move_slot,
    piece_to_entry,
)
from core_ext.search.movepick cimport Picker
from core_ext.shogi.position cimport Position, pieces
from core_ext.search.stack cimport Candidate, Frame, Node, Searcher
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.search.tt cimport BOUND_LOWER, BOUND_UPPER
from core_ext.search.tune cimport (
    BONUS_LIMIT, BONUS_SLOPE, CAPTURE_FUTILITY_BASE, CAPTURE_FUTILITY_SLOPE, CAPTURE_SEE_SLOPE, CORRECTION_CASTLE,
    CORRECTION_PAWNS, CORRECTION_WEIGHT, FUTILITY_BASE, FUTILITY_DEPTH, FUTILITY_SLOPE, HISTORY_PRUNE, IIR_DEPTH,
    LMP_BASE, LMP_DEPTH, LMP_SLOPE, LMR_BASE, LMR_CHECK, LMR_CUT, LMR_CUTOFFS, LMR_HASH_CAPTURE, LMR_HISTORY,
    LMR_KILLER, LMR_NOT_IMPROVING, LMR_PV, MALUS_LIMIT, MALUS_SLOPE, NULL_BASE, NULL_DIVISOR, NULL_EVAL, NULL_MARGIN,
    NULL_SLOPE, PROBCUT_DEPTH, QUIET_SEE_SLOPE, REVERSE_FUTILITY_DEPTH, REVERSE_FUTILITY_SLOPE, SINGULAR_DEPTH,
    SHAPE_HISTORY, SINGULAR_MARGIN, tune,
)
from core_ext.shogi.types cimport (
    BLACK, GOLDS, MATE_BOUND, Move, NULL_MOVE, PAWN, SILVER, WHITE, captured_piece, int16_t, type_of, uint64_t,
)


cdef inline int clamp(int value, int least, int greatest) noexcept nogil:
    return least if value < least else greatest if value > greatest else value


cdef inline bint decided(int value) noexcept nogil:
    """A mate or a win by rule: margins mean nothing there."""
    return value >= MATE_BOUND or value <= -MATE_BOUND


# ---- the structure of pawns ----

cdef inline int mixed(Bitboard squares) noexcept nogil:
    """A slot for a set of squares: the high bits of two products."""
    return <int>((squares.low * <uint64_t>0x9E3779B97F4A7C15 + squares.high * <uint64_t>0xC2B2AE3D27D4EB4F) >> 50)


cdef inline PieceTo *shape_table(Searcher *s) noexcept nogil:
    """The history of moves under the present pawns of both sides (pawn history, Stockfish 2023)."""
    cdef int slot = mixed(pieces(&s.pos, BLACK, PAWN)) ^ mixed(pieces(&s.pos, WHITE, PAWN)) * 3
    return &s.histories.shape[slot & (SHAPES - 1)]


# ---- the static value ----

cdef inline int castle_slot(const Position *pos, int color) noexcept nogil:
    cdef Bitboard golds = pieces(pos, color, GOLDS), silvers = pieces(pos, color, SILVER)
    return (mixed(golds) ^ (mixed(silvers) * 3) ^ (pos.king[color] * 151)) & (CORRECTION_SLOTS - 1)


cdef inline int correction_slot(Searcher *s, const Frame *frame, int key) noexcept nogil:
    if key == BY_HANDS:
        return s.pos.state.hand_key >> 50 & (CORRECTION_SLOTS - 1)
    if key == BY_MOVE:
        return ((frame - 1).move >> 16 & 31) << 7 | ((frame - 1).move & 127)
    if key == BY_PAWNS:
        return mixed(pieces(&s.pos, s.pos.side, PAWN)) ^ mixed(s.pos.kind[PAWN]) * 5 & (CORRECTION_SLOTS - 1)
    return castle_slot(&s.pos, s.pos.side if key == BY_CASTLE else 1 - s.pos.side)


cdef inline int16_t *correction_entry(Searcher *s, const Frame *frame, int key) noexcept nogil:
    return &s.histories.correction[key][s.pos.side][correction_slot(s, frame, key)]


cdef inline int corrected(Searcher *s, const Frame *frame, int value) noexcept nogil:
    """The evaluation's error in nodes that share something with this one was learned as the search went (correction
    history, Stockfish 2024)."""
    cdef int error = tune[CORRECTION_WEIGHT] * (correction_entry(s, frame, BY_HANDS)[0]
                                                + correction_entry(s, frame, BY_MOVE)[0])
    error += tune[CORRECTION_PAWNS] * correction_entry(s, frame, BY_PAWNS)[0]
    error += tune[CORRECTION_CASTLE] * (correction_entry(s, frame, BY_CASTLE)[0]
                                        + correction_entry(s, frame, BY_OTHER_CASTLE)[0])
    return clamp(value + error // 1024, -MATE_BOUND + 1, MATE_BOUND - 1)


# ---- giving a whole node up ----

cdef inline bint hash_cuts(const Node *node) noexcept nogil:
    """An earlier search of at least this depth already decides against the window."""
    if node.pv or not node.hash.hit or node.hash.depth < node.depth or node.frame.excluded:
        return False
    if node.hash_value >= node.beta:
        return (node.hash.bound & BOUND_LOWER) != 0
    return (node.hash.bound & BOUND_UPPER) != 0


cdef inline bint futile_for_opponent(const Node *node) noexcept nogil:
    """So far above beta that the opponent is not expected to catch up in the plies left (reverse futility)."""
    return (not node.frame.on_pv and node.depth < tune[REVERSE_FUTILITY_DEPTH] and node.value < MATE_BOUND
            and node.beta > -MATE_BOUND
            and node.value - tune[REVERSE_FUTILITY_SLOPE] * (node.depth - node.improving) >= node.beta)


cdef inline bint may_pass(const Searcher *s, const Node *node) noexcept nogil:
    """Above beta even before moving: see whether passing holds (null move). Shogi has next to no zugzwang."""
    return (not node.pv and (node.frame - 1).move != NULL_MOVE and not node.frame.excluded and node.beta > -MATE_BOUND
            and node.value >= node.beta and node.ply >= s.null_from
            and node.frame.static_value >= node.beta - tune[NULL_SLOPE] * node.depth + tune[NULL_MARGIN])


cdef inline int null_reduction(const Node *node) noexcept nogil:
    return (tune[NULL_BASE] + node.depth // tune[NULL_DIVISOR]
            + clamp((node.value - node.beta) // tune[NULL_EVAL], 0, 4))


cdef inline int without_hash_move(const Node *node) noexcept nogil:
    """Depth taken off where no hash move is known: a shallower search finds one for the next time (internal iterative
    reduction, E. Schröder)."""
    if node.hash.move or node.depth < tune[IIR_DEPTH] or not (node.pv or node.cut):
        return 0
    return 1


cdef inline bint may_probcut(const Node *node, int raised_beta) noexcept nogil:
    """A capture that beats beta by a margin in a shallow search will beat beta in the full one (ProbCut, M. Buro)."""
    if node.pv or node.depth < tune[PROBCUT_DEPTH] or decided(node.beta) or node.frame.excluded:
        return False
    return not (node.hash.hit and node.hash.depth >= node.depth - 3 and node.hash_value < raised_beta)


# ---- leaving moves out ----

cdef inline int late_move_limit(const Node *node) noexcept nogil:
    """How many moves a node of this depth looks at before the quiet ones left are given up."""
    if node.depth >= tune[LMP_DEPTH]:
        return 1 << 20
    return (tune[LMP_BASE] + tune[LMP_SLOPE] * node.depth * node.depth // 64) // (1 if node.improving else 2)


cdef inline bint skips_quiet(Searcher *s, const Node *node, const Candidate *move, int reduced) noexcept nogil:
    """Little history, a static value too low to be lifted by a quiet move, or a piece given away."""
    if move.history < -tune[HISTORY_PRUNE] * node.depth:
        return True
    if not node.in_check and reduced < tune[FUTILITY_DEPTH] \
            and node.frame.static_value + tune[FUTILITY_BASE] + tune[FUTILITY_SLOPE] * reduced <= node.alpha:
        return True
    return not see_at_least(&s.pos, move.move, -tune[QUIET_SEE_SLOPE] * reduced * reduced)


cdef inline bint skips_capture(Searcher *s, const Node *node, const Candidate *move, int reduced) noexcept nogil:
    """A capture or check that cannot reach alpha even with what it takes, or that loses too much."""
    cdef int gain = see_value(type_of(captured_piece(move.move32)))
    if not move.checks and not node.in_check and reduced < 7 \
            and (node.frame.static_value + tune[CAPTURE_FUTILITY_BASE] + tune[CAPTURE_FUTILITY_SLOPE] * reduced + gain
                 <= node.alpha):
        return True
    return not see_at_least(&s.pos, move.move, -tune[CAPTURE_SEE_SLOPE] * node.depth)


cdef inline bint skips(Searcher *s, Node *node, Picker *picker, const Candidate *move) noexcept nogil:
    """Whether the move is left out; never while the node is being mated."""
    cdef int reduced
    if node.best_value <= -MATE_BOUND:
        return False
    picker.skip_quiets = node.move_count >= late_move_limit(node)
    reduced = node.depth - base_reduction(s, node) // 1024
    if not move.quiet or move.checks:
        return skips_capture(s, node, move, clamp(reduced, 0, node.depth))
    return skips_quiet(s, node, move, clamp(reduced + move.history // 8192, 0, node.depth))


# ---- how deep to search a move ----

cdef inline bint may_be_singular(const Searcher *s, const Node *node, Move move) noexcept nogil:
    """The hash move, backed by a deep enough search: if all others fall short of it by a margin, it is searched
    deeper.
    """
    return (move == node.hash.move and not node.frame.excluded and node.depth >= tune[SINGULAR_DEPTH]
            and node.ply < 2 * s.root_depth and not decided(node.hash_value) and (node.hash.bound & BOUND_LOWER)
            and node.hash.depth >= node.depth - 3)


cdef inline int singular_beta(const Node *node) noexcept nogil:
    return node.hash_value - tune[SINGULAR_MARGIN] * node.depth // 64


cdef inline int base_reduction(const Searcher *s, const Node *node) noexcept nogil:
    """Late moves are searched less deep, by the logarithms of depth and number (in 1/1024 ply)."""
    cdef int product = s.reductions[clamp(node.depth, 0, 255)] * s.reductions[clamp(node.move_count, 0, 255)]
    return product + (0 if node.improving else tune[LMR_NOT_IMPROVING])


cdef inline int reduction(const Searcher *s, const Node *node, const Candidate *move) noexcept nogil:
    """The late-move reduction of a move, in 1/1024 ply: more where a cut is expected, less on the principal variation,
    for checks, killers and moves with a good history."""
    cdef int plies = base_reduction(s, node) - tune[LMR_BASE]
    if node.cut:
        plies += tune[LMR_CUT]
    if node.hash_capture:
        plies += tune[LMR_HASH_CAPTURE]
    if node.frame.on_pv:
        plies -= tune[LMR_PV]
    if move.checks:
        plies -= tune[LMR_CHECK]
    if move.killer or move.move == node.hash.move:
        plies -= tune[LMR_KILLER]
    if (node.frame + 1).cutoffs > 3:
        plies += tune[LMR_CUTOFFS]
    return plies - move.history * tune[LMR_HISTORY] // 128


cdef inline int quiet_history(Searcher *s, const Frame *frame, const Candidate *move) noexcept nogil:
    """What butterfly, continuation and pawn-structure histories say of a quiet move."""
    return (2 * s.histories.butterfly[s.pos.side][move_slot(move.move)]
            + piece_to_entry((frame - 1).continuation, move.move32)[0]
            + piece_to_entry((frame - 2).continuation, move.move32)[0]
            + tune[SHAPE_HISTORY] * piece_to_entry(frame.shape, move.move32)[0] // 32)


cdef inline int bonus_of(int depth) noexcept nogil:
    """What a move that cut is credited with."""
    return clamp(tune[BONUS_SLOPE] * depth - 80, 0, tune[BONUS_LIMIT])


cdef inline int malus_of(int depth) noexcept nogil:
    """What the moves tried before it are charged."""
    return clamp(tune[MALUS_SLOPE] * depth - 80, 0, tune[MALUS_LIMIT])
