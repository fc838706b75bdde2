"""The staged move picker: yields the moves of a node one by one, most promising first, and generates each kind of move
only when its stage begins.

    main search   hash move, good captures, good quiets and drops, bad captures, bad quiets
    in check      hash move, evasions
    quiescence    hash move, captures
    ProbCut       hash move, captures that win at least a threshold
"""

from core_ext.search.history cimport Histories, PieceTo
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef enum:
    CONTINUATIONS = 5   # continuation histories that order quiets: of the moves 1, 2, 3, 4 and 6 plies earlier

cdef enum:
    STAGE_HASH      # next: the hash move
    STAGE_START     # no move generated yet
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
    int threshold       # ProbCut: least SEE value
    Move hash_move
    bint skip_quiets    # yield no more quiet moves; the search may set it at any time
    # Memory: [start, bad_end) bad captures, [current, end) moves left of the stage, [bad_quiets, last_end) bad quiets.
    ScoredMove *start
    ScoredMove *current
    ScoredMove *end
    ScoredMove *best        # best move from `current` on, or NULL if not known
    ScoredMove *bad_end
    ScoredMove *bad_quiets
    ScoredMove *last_end    # end of the node's moves; child nodes use the memory from here on

# `hash_move` is legal or NO_MOVE. The caller sets ply, threshold, check_info, pawn_history and continuations.
cdef void init_picker(Picker *picker, const Position *pos, Histories *histories, ScoredMove *free_moves, int purpose,
                      Move hash_move) noexcept nogil
# Return the next legal move, or NO_MOVE at the end. Each move comes once.
cdef Move next_move(Picker *picker) noexcept nogil
# Return the best generated move left in the stage without taking it, or NO_MOVE.
cdef Move peek_move(Picker *picker) noexcept nogil
