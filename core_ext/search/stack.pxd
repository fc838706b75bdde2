"""The state of a search thread, of the line it is searching (the search stack), and of a node; and value helpers."""

from core_ext.eval.evaluate cimport Evaluator
from core_ext.base.stop cimport Stop
from core_ext.search.history cimport Histories, PieceTo
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.search.movepick cimport ScoredMove
from core_ext.shogi.position cimport DeclarationRule, Position
from core_ext.search.tt cimport TTData, TranspositionTable
from core_ext.shogi.types cimport MAX_PLY, Move, Move32, uint64_t

cdef enum:
    STACK_OFFSET = 6        # entries before the root's, so that "six plies ago" always has one
    TRIED_MOVES = 32        # moves that a node lists for the history updates

cdef struct RootMove:
    Move move
    int value               # of the last search; -INFINITE where it came later and did not beat alpha
    int previous            # of the search before
    int bound               # of `value`, as in tt.pxd
    bint searched           # in this search of the root
    int seldepth
    uint64_t nodes
    int pv_length
    Move pv[MAX_PLY + 1]

# A line from the root.
cdef struct Sample:
    int length
    Move moves[MAX_PLY]

# Every `every`-th evaluated position, until `room` of them are noted; 0: none.
cdef struct Samples:
    int every
    int left                # positions until the next sample
    int room
    int count
    Sample *sample

# An entry of the search stack, one a ply; `ss` points to the current node's, `ss - 1` is its parent's.
cdef struct Stack:
    Move32 move             # being searched; 0 or NULL_MOVE where there is none
    PieceTo *continuation   # continuation history after that move
    PieceTo *correction     # correction history of the moves after that move
    PieceTo *pawn_history   # of the position's pawn structure; not set in quiescence
    Move excluded           # left out by a singular search, else NO_MOVE
    int static_value        # corrected; in check that of two plies ago; NO_VALUE before the root
    bint in_check
    bint tt_hit
    bint follows_pv         # every move to here is that of `last_pv`
    int move_count          # which of the node's moves is being searched, 1 the first; a singular search leaves its own
    int reduction           # plies by which that search is reduced; 0 where it is not
    int history             # of the move being searched: its score where it decides the reduction
    int cutoffs             # nodes of this ply that failed high since the node two plies above was entered
    bint on_pv              # on a principal variation, now or when the table's entry was stored
    int pv_length
    Move pv[MAX_PLY + 1]

cdef struct Searcher:
    Position pos
    Evaluator *evaluator
    Histories *histories
    void *histories_block   # their memory
    TranspositionTable *table
    const Stop *stop        # requested by another thread, or past its deadline
    bint stopped            # by `stop` or the node limit: values returned from then on are void
    uint64_t nodes
    uint64_t node_limit     # 0: none
    uint64_t next_check     # the node count at which limit and clock are checked next
    int seldepth
    int root_depth
    int root_window         # beta - alpha at the root
    int last_pv_length
    Move last_pv[MAX_PLY + 1]   # of the last search of the root whose value lay in its window
    int null_min_ply        # null moves are allowed from this ply on; above 0 only while one is verified
    int draw_value[2]       # of a draw, for each side to move
    int max_moves           # the game ends in a draw after so many moves; 0: never
    DeclarationRule declaration
    RootMove *roots
    int root_count
    ScoredMove *move_memory
    ScoredMove *free_moves  # next free place of move_memory
    Samples samples         # of the positions evaluated, for learning
    int reductions[256]     # lmr_scale / 128 * log(i): the product of two is in 1/1024 ply
    Stack stack[MAX_PLY + STACK_OFFSET + 2]

cdef struct Node:
    Stack *ss
    int alpha
    int beta
    int depth
    int ply
    bint pv                 # the window is open
    bint cut                # expected to fail high
    bint all                # expected to fail low: neither pv nor cut
    bint in_check
    bint improving          # the static value is better than two plies ago, or above beta
    bint opponent_worsening  # the static value is better than before the opponent's move
    int prior_reduction     # plies by which the search of this node was reduced
    TTData tt
    int tt_value            # counted from the root; NO_VALUE without a bound
    bint tt_capture         # the table's move is not quiet
    int raw_value           # static value before correction
    int error               # size of the correction: how wrong the evaluation is in positions like this one
    int value               # static value, or the table's where its bound makes that better
    int best_value
    Move best_move
    int move_count
    int quiet_count
    int capture_count
    Move quiets[TRIED_MOVES]        # searched without a cut, for the history updates
    Move captures[TRIED_MOVES]
    CheckInfo check_info

# A move about to be searched.
cdef struct Candidate:
    Move move
    Move32 move32
    bint quiet
    bint checks
    int extension
    int reduction           # before anything is known of the move, in 1/1024 ply


cdef inline int clamp(int value, int least, int greatest) noexcept nogil:
    return least if value < least else greatest if value > greatest else value
