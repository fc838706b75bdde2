"""The staged move picker: gives the moves of a node one by one, the most promising first, and generates no kind before
it is due.

    main search   hash move, good captures, killers, quiets and drops, bad captures
    in check      hash move, evasions
    quiescence    hash move, captures, and on its first ply quiet checks
    probcut       hash move, captures that win at least a threshold
"""

from core_ext.search.history cimport Histories, PieceTo
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef enum:
    CONTINUATIONS = 4   # continuation histories that order quiets: after the moves 1, 2, 4 and 6 plies ago

cdef enum:
    STAGE_HASH      # the hash move is still to be given
    STAGE_START     # nothing is generated yet
    STAGE_GOOD_CAPTURES
    STAGE_KILLERS
    STAGE_QUIETS
    STAGE_BAD_CAPTURES
    STAGE_EVASIONS
    STAGE_CHECKS
    STAGE_DONE

cdef enum:
    PICK_MAIN
    PICK_QUIESCENCE
    PICK_QUIESCENCE_CHECKS
    PICK_PROBCUT

cdef struct ScoredMove:
    int score
    Move move

cdef struct Picker:
    const Position *pos
    Histories *histories
    const CheckInfo *check
    PieceTo *continuations[CONTINUATIONS]
    PieceTo *shape      # of the pawn structure
    int purpose
    int stage
    int ply
    int threshold       # probcut: the least exchange value
    Move hash_move
    Move killers[2]
    int next_killer
    bint skip_quiets    # set by the search when no further quiet move can matter
    ScoredMove *start   # moves of the node; grows from here
    ScoredMove *current
    ScoredMove *end     # of what is in use: free for the nodes below
    ScoredMove *bad_end  # bad captures are kept at the front, from `start` to here

cdef void init_picker(Picker *picker, const Position *pos, Histories *histories, ScoredMove *free_moves, int purpose,
                      Move hash_move) noexcept nogil
# The next move, or NO_MOVE; never the same twice, all legal.
cdef Move next_move(Picker *picker) noexcept nogil
cdef bint is_quiet(const Position *pos, Move move) noexcept nogil
