"""The structs of the search: a thread (Searcher), a ply (Stack), a node (Node) and a move to search (Candidate)."""

from core_ext.base.atomic cimport SharedWord
from core_ext.base.stop cimport Stop
from core_ext.eval.evaluate cimport Evaluator
from core_ext.search.history cimport Histories, PieceTo
from core_ext.search.movepick cimport ScoredMove
from core_ext.search.tt cimport TTData, TranspositionTable
from core_ext.shogi.movegen cimport CheckInfo
from core_ext.shogi.position cimport DeclarationRule, Position
from core_ext.shogi.types cimport MAX_PLY, Move, Move32, uint64_t

cdef enum:
    STACK_OFFSET = 6        # stack entries before the root, so that `ss - 6` exists at every ply
    TRIED_MOVES = 32        # moves that a node lists for the history updates
    REDUCTIONS = 256        # depths and move numbers with a reduction of their own

cdef struct RootMove:
    Move move
    int value               # in the last search; -INFINITE for a later move that did not beat alpha
    int previous            # value in the search before
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

# Every `every`-th evaluated position is stored, up to `room` of them; with `every` 0 none.
cdef struct Samples:
    int every
    int left                # positions until the next sample
    int room
    int count
    Sample *sample

# Search stack: one entry per ply. `ss` is the current node, `ss - 1` its parent.
cdef struct Stack:
    Move32 move             # being searched; NO_MOVE before the root, NULL_MOVE for a null move
    PieceTo *continuation   # continuation history after that move
    PieceTo *correction     # continuation correction history after that move
    PieceTo *pawn_history   # of the position's pawn structure; not set in quiescence
    Move excluded           # in a singular search the hash move, else NO_MOVE
    int static_value        # corrected; in check that of two plies ago; NO_VALUE before the root
    bint in_check
    bint tt_hit
    bint follows_pv         # every move from the root to here is in `last_pv`
    int move_count          # number of the move being searched, from 1; a singular search overwrites it
    int reduction           # plies by which that move is reduced in the current search
    int history             # history score of that move, as used for its reduction
    int cutoffs             # fail highs at this ply since the node two plies above was entered
    bint on_pv              # PV node now, or when the TT entry was stored (ttPv in Stockfish)
    int pv_length
    Move pv[MAX_PLY + 1]

cdef struct Searcher:
    Position pos
    Evaluator *evaluator
    Histories *histories
    void *histories_block   # for release_large
    TranspositionTable *table
    const Stop *stop        # set by another thread, or past its deadline
    bint stopped            # by `stop` or the node limit: values returned from now on are void
    SharedWord nodes        # other threads may read it
    uint64_t node_limit     # 0: none
    uint64_t next_check     # node count of the next check of limit and clock
    int seldepth
    int root_depth
    int root_window         # beta - alpha at the root
    int last_pv_length
    Move last_pv[MAX_PLY + 1]   # of the last root search whose value was inside its window
    int null_min_ply        # null moves are allowed from this ply on; above 0 only during a verification search
    int draw_value[2]       # value of a draw by side to move
    int max_moves           # the game is a draw after this number of moves; 0: never
    DeclarationRule declaration
    RootMove *roots
    int root_count
    ScoredMove *move_memory
    ScoredMove *free_moves  # first free element of move_memory
    Samples samples
    int reductions[REDUCTIONS]  # lmr_scale / 128 * log(i); the product of two is in 1/1024 ply
    Stack stack[MAX_PLY + STACK_OFFSET + 2]

cdef struct Node:
    Stack *ss
    int alpha
    int beta
    int depth
    int ply
    bint pv                 # open window
    bint cut                # expected to fail high
    bint all                # expected to fail low: neither pv nor cut
    bint in_check
    bint improving          # the static value is above that of two plies ago, or at least beta
    bint opponent_worsening  # the static value is above that before the opponent's move
    int prior_reduction     # plies by which the parent reduced this node
    TTData tt
    int tt_value            # mate values count from the root; NO_VALUE without a bound
    bint tt_capture         # the hash move is not quiet
    int raw_value           # static value before correction
    int error               # absolute correction: how unreliable the static value is here
    int value               # static value, replaced by the TT value if its bound makes that better
    int best_value
    Move best_move
    int move_count
    int quiet_count
    int capture_count
    Move quiets[TRIED_MOVES]        # searched without a cutoff, for the history updates
    Move captures[TRIED_MOVES]
    CheckInfo check_info

cdef struct Candidate:
    Move move
    Move32 move32
    bint quiet
    bint checks
    int depth               # after the move, before extension and reduction
    int extension
    int reduction           # base_reduction of the move, in 1/1024 ply

# Return cleared histories; `block[0]` receives the pointer for release_large. With `lazy` the memory is provided at
# first use, otherwise now. MemoryError.
cdef Histories *allocate_histories(void **block, bint lazy) except NULL
# Allocate everything except evaluator, table and stop. `lazy` as in allocate_histories. MemoryError.
cdef int allocate_searcher(Searcher *s, bint lazy) except -1
cdef void free_searcher(Searcher *s) noexcept nogil
# Sample every `every`-th position of the next searches, at most `room`. MemoryError.
cdef int allocate_samples(Searcher *s, int every, int room) except -1
# Clear the histories, for a new game.
cdef void clear_searcher(Searcher *s) noexcept nogil
# Reset what is kept from one search of a root to the next.
cdef void new_root(Searcher *s) noexcept nogil
