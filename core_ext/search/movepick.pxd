"""The staged move picker: yields the moves of a node one by one, the most promising first, and generates each kind only
when its stage begins.

    main search   hash move, good captures, good quiets and drops, bad captures, bad quiets
    in check      hash move, evasions
    quiescence    hash move, captures
    ProbCut       hash move, captures that win at least a threshold
"""

from core_ext.search.history cimport Histories, PieceTo
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.shogi.position cimport Position, to_move32
from core_ext.shogi.types cimport (
    Move, Move32, PAWN, captured_piece, is_drop, is_promotion, moved_piece, type_of,
)

cdef enum:
    CONTINUATIONS = 5   # continuation histories that order quiets: after the moves 1, 2, 3, 4 and 6 plies ago

cdef enum:
    STAGE_HASH      # the hash move comes next
    STAGE_START     # nothing is generated yet
    STAGE_GOOD_CAPTURES
    STAGE_GOOD_QUIETS
    STAGE_BAD_CAPTURES
    STAGE_BAD_QUIETS
    STAGE_EVASIONS
    STAGE_DONE

cdef enum:
    PICK_MAIN
    PICK_QUIESCENCE
    PICK_PROBCUT

cdef struct ScoredMove:
    int score
    Move move

cdef struct Picker:
    const Position *pos
    Histories *histories
    const CheckInfo *check_info
    PieceTo *continuations[CONTINUATIONS]
    PieceTo *pawn_history   # of the position's pawn structure
    int purpose
    int stage
    int ply
    int threshold       # ProbCut: the least exchange value
    Move hash_move
    bint skip_quiets    # the search may set it at any time: no further quiet moves
    ScoredMove *start   # of the node's moves
    ScoredMove *current
    ScoredMove *end     # of the stage's moves
    ScoredMove *best    # of those from `current` on, where it is known; else NULL
    ScoredMove *bad_end  # bad captures stand at the front, from `start` to here
    ScoredMove *bad_quiets  # the first of them, behind the good ones; the last moves of all
    ScoredMove *last_end    # of all the node's moves: the nodes below it use the memory from here on

# `hash_move` must be legal, or NO_MOVE. The caller sets ply, threshold, check_info, pawn_history and continuations.
cdef void init_picker(Picker *picker, const Position *pos, Histories *histories, ScoredMove *free_moves, int purpose,
                      Move hash_move) noexcept nogil
# The next legal move, each once; NO_MOVE at the end.
cdef Move next_move(Picker *picker) noexcept nogil
# The move that next_move would select next among those generated; NO_MOVE where none is left of the stage.
cdef Move peek_move(Picker *picker) noexcept nogil


cdef inline bint is_quiet32(Move32 move) noexcept nogil:
    """Neither a capture nor a pawn's promotion: what generate_captures leaves out."""
    if captured_piece(move):
        return False
    return is_drop(move) or not (is_promotion(move) and type_of(moved_piece(move)) == PAWN)


cdef inline bint is_quiet(const Position *pos, Move move) noexcept nogil:
    return is_quiet32(to_move32(pos, move))
