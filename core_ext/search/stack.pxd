"""The state of one searching thread, of a line of play in it, and of a node."""

from core_ext.eval.evaluate cimport Evaluator
from core_ext.base.stop cimport Stop
from core_ext.search.history cimport Histories, PieceTo
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.search.movepick cimport ScoredMove
from core_ext.shogi.position cimport DeclarationRule, Position
from core_ext.search.tt cimport Found, Table
from core_ext.shogi.types cimport MAX_PLY, Move, Move32, uint64_t

cdef enum:
    FRAMES_BEHIND = 6       # frames before the root, so that "six plies ago" always has one
    TRIED_MOVES = 32        # quiet moves and captures a node remembers to have tried in vain

cdef struct RootMove:
    Move move
    int value               # of the last search; -INFINITE where it was not the best nor better than alpha
    int previous            # of the search before
    int bound               # of `value`, as in tt.pxd
    int seldepth
    uint64_t nodes
    int pv_length
    Move pv[MAX_PLY + 1]

# What a node leaves for the nodes after it on the line.
cdef struct Frame:
    Move32 move           # being searched; 0 or NULL_MOVE where there is none
    PieceTo *continuation   # the continuation history after that move
    PieceTo *shape          # the history of moves under the pawns as they stand
    Move excluded           # left out by a singular search, else NO_MOVE
    Move killers[2]
    int static_value        # NO_VALUE in check
    int cutoffs             # how often children failed high
    bint on_pv              # on a principal variation, now or when the table saw it
    int pv_length
    Move pv[MAX_PLY + 1]

cdef struct Searcher:
    Position pos
    Evaluator *evaluator
    Histories *histories
    Table *table
    const Stop *stop        # requested by another thread, or past its deadline
    bint stopped
    uint64_t nodes
    uint64_t node_limit     # 0: none
    uint64_t next_check      # the node count that calls for a look at limit and clock
    int seldepth
    int root_depth
    int null_from           # no null move before this ply while one is verified
    int draw_value[2]       # of a draw, for each side to move
    int max_moves           # the game ends in a draw after so many moves; 0: never
    DeclarationRule declaration
    RootMove *roots
    int root_count
    ScoredMove *move_memory
    ScoredMove *free_moves  # next free place of move_memory
    int reductions[256]
    Frame frames[MAX_PLY + FRAMES_BEHIND + 2]

cdef struct Node:
    Frame *frame
    int alpha
    int beta
    int depth
    int ply
    bint pv                 # the window is open
    bint cut                # expected to fail high
    bint in_check
    bint improving          # the static value is better than two plies ago
    Found hash
    int hash_value          # from the root's view; NO_VALUE without a hit
    bint hash_capture       # the hash move changes material
    int raw_value           # static value before correction
    int value               # static value, made better by what the table knows
    int best_value
    Move best_move
    int first_alpha
    int move_count
    int quiet_count
    int capture_count
    Move quiets[TRIED_MOVES]
    Move captures[TRIED_MOVES]
    CheckInfo check

# A move about to be searched.
cdef struct Candidate:
    Move move
    Move32 move32
    bint quiet
    bint checks
    bint killer
    int history             # what the histories say of a quiet move
    int extension
