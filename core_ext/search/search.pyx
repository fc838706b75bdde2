"""Principal-variation search and quiescence.

`search_node` lists the steps of a node in order. The selective rules that search stand before it, each with its
condition and its action together; those that do not are in pruning.pxd, and the amounts by which moves are extended
and reduced in depths.pxd. Constants that a tuner may change are in tune.h.
"""

from libc.math cimport log
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from core_ext.base.debug cimport ASSERT
from core_ext.base.memory cimport release_large
from core_ext.eval.evaluate cimport evaluate
from core_ext.search.correction cimport update_correction
from core_ext.search.counts cimport count_cut
from core_ext.search.depths cimport (
    base_reduction, full_depth, may_be_singular, may_reduce, move_history, multi_cut, reduction, singular_beta,
    singular_extension,
)
from core_ext.search.history cimport allocate_histories, clear_histories, clear_low_ply_history, pawn_history
from core_ext.search.history_updates cimport (
    punish_hash_move, update_after_tt_cutoff, update_by_gain, update_continuations, update_hash_move_history,
    update_histories, update_prior_move,
)
from core_ext.search.movepick cimport (
    PICK_MAIN, PICK_PROBCUT, PICK_QUIESCENCE, Picker, ScoredMove, init_picker, is_quiet, next_move,
)
from core_ext.search.node cimport (
    add_tried_move, bound_of, check_stop, find_mate, game_over, init_candidate, init_node, join_line_before, make_move,
    make_null, mate_node, prefetch_next, probe_table, set_picker_histories, set_static_value, store_node, update_best,
    value_without_moves,
)
from core_ext.search.pruning cimport (
    hindsight, iir_reduction, late_move_limit, may_prune_moves, prune_in_quiescence, prunes_move,
    quiescence_cuts, razors, reverse_futility, reverse_futility_value, small_probcut, tt_cuts,
)
from core_ext.search.root_moves cimport find_root_move, sort_root_moves, update_root_move
from core_ext.search.stack cimport Candidate, Node, RootMove, STACK_OFFSET, Sample, Searcher, clamp
from core_ext.search.tt cimport BOUND_EXACT, BOUND_LOWER, BOUND_NONE, BOUND_UPPER
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport init_check_info
from core_ext.shogi.position cimport allocate_position, free_position, to_move32, undo_move, undo_null
from core_ext.shogi.types cimport (
    INFINITE, MATE, MAX_DEPTH, MAX_MOVES, MAX_PLY, Move, NO_MOVE, NO_VALUE, NULL_MOVE, is_decisive, is_loss,
    uint64_t,
)

# Depths of the entries that quiescence stores, and of those that save no more than the static value. Too shallow to
# cut a node of the main search (`tt_cuts`); small ProbCut takes them within its margin of depth.
cdef enum:
    QUIESCENCE_DEPTH = 0
    STATIC_DEPTH = -2

# ---- memory ----

cdef int allocate_searcher(Searcher *s, bint lazy) except -1:
    memset(s, 0, sizeof(Searcher))
    allocate_position(&s.pos, 2 * MAX_PLY)
    s.histories = allocate_histories(&s.histories_block, lazy)
    s.roots = <RootMove *>malloc(MAX_MOVES * sizeof(RootMove))
    s.move_memory = <ScoredMove *>malloc((MAX_PLY + 2) * 2 * MAX_MOVES * sizeof(ScoredMove))
    if s.roots == NULL or s.move_memory == NULL:
        free_searcher(s)
        raise MemoryError("no memory for a search thread")
    return 0


cdef void free_searcher(Searcher *s) noexcept nogil:
    free_position(&s.pos)
    release_large(s.histories_block)
    free(s.roots)
    free(s.move_memory)
    free(s.samples.sample)
    s.samples.sample = NULL
    s.histories = NULL
    s.histories_block = NULL
    s.roots = NULL
    s.move_memory = NULL


cdef int allocate_samples(Searcher *s, int every, int room) except -1:
    cdef Sample *sample = <Sample *>realloc(s.samples.sample, room * sizeof(Sample))
    if sample == NULL:
        raise MemoryError(f"no memory for {room} samples")
    s.samples.sample = sample
    s.samples.room = room
    s.samples.every = every
    s.samples.left = s.samples.count = 0
    return 0


cdef void clear_searcher(Searcher *s) noexcept nogil:
    clear_histories(s.histories)


cdef void new_root(Searcher *s) noexcept nogil:
    """The cutoffs of the root's moves count from here on, over all depths, so that the late ones are reduced more; of
    those of the other plies init_node takes care."""
    clear_low_ply_history(s.histories)
    s.stack[STACK_OFFSET].cutoffs = s.stack[STACK_OFFSET + 1].cutoffs = 0
    s.last_pv_length = 0
    s.nodes = 0
    s.samples.count = 0


# ---- null move ----

cdef inline bint may_null_move(const Searcher *s, const Node *node) noexcept nogil:
    """Above beta even before moving. Shogi has next to no zugzwang, so a side that may move is not worse off.

    Never twice in a row: the node after a null move is no cut node.
    """
    return (node.cut and not node.ss.excluded and not is_loss(node.beta)
            and node.ply >= s.null_min_ply and node.ss.static_value >= node.beta - tune.null_slope * node.depth
            - tune.null_improving * node.improving + tune.null_margin)


cdef inline int null_move_reduction(const Node *node) noexcept nogil:
    return tune.null_base + node.depth // tune.null_divisor


cdef bint verify_null_move(Searcher *s, const Node *node, int depth) noexcept nogil:
    """Verification of a deep null move: a reduced search without null moves in its first plies reaches beta too."""
    cdef int value
    if s.null_min_ply or node.depth < tune.null_verify:
        return True
    s.null_min_ply = node.ply + tune.null_verify_share * clamp(depth, 1, MAX_DEPTH) // 100
    value = search_node(s, node.beta - 1, node.beta, depth, node.ply, False)
    s.null_min_ply = 0
    return value >= node.beta


cdef bint try_null_move(Searcher *s, const Node *node, int *value) noexcept nogil:
    """Whether a reduced search reaches beta although the opponent moves twice."""
    cdef int depth = node.depth - null_move_reduction(node)
    if not may_null_move(s, node):
        return False
    ASSERT((node.ss - 1).move != NULL_MOVE)
    make_null(s, node.ss)
    value[0] = -search_node(s, -node.beta, -node.beta + 1, depth, node.ply + 1, False)
    undo_null(&s.pos)
    if value[0] < node.beta or is_decisive(value[0]) or s.stopped:
        return False
    return verify_null_move(s, node, depth)


# ---- ProbCut (M. Buro) ----

cdef inline int probcut_beta(const Node *node) noexcept nogil:
    return node.beta + tune.probcut_margin - tune.probcut_improving * node.improving


cdef inline bint may_probcut(const Node *node, int raised_beta) noexcept nogil:
    """Not where the table has a value below the raised beta."""
    if node.depth < tune.probcut_depth or is_decisive(node.beta):
        return False
    return not (node.tt.bound and node.tt_value < raised_beta)


cdef int search_probcut(Searcher *s, const Node *node, Move move, int raised_beta) noexcept nogil:
    """Quiescence, and a reduced search where that reaches the raised beta."""
    cdef int value
    make_move(s, node.ss, move, to_move32(&s.pos, move))
    value = -quiescence(s, -raised_beta, -raised_beta + 1, node.ply + 1)
    if value >= raised_beta and node.depth > tune.probcut_reduction:
        value = -search_node(s, -raised_beta, -raised_beta + 1, node.depth - tune.probcut_reduction, node.ply + 1,
                             not node.cut)
    undo_move(&s.pos)
    return value


cdef bint try_probcut(Searcher *s, Node *node, int *value) noexcept nogil:
    """Whether a good capture beats beta by a margin in a shallow search: it most likely beats beta in the full one."""
    cdef int raised_beta = probcut_beta(node)
    cdef Picker picker
    cdef Move move
    cdef ScoredMove *base = s.free_moves
    if not may_probcut(node, raised_beta):
        return False
    init_picker(&picker, &s.pos, s.histories, base, PICK_PROBCUT, node.tt.move if node.tt_capture else NO_MOVE)
    picker.threshold = raised_beta - node.ss.static_value
    move = next_move(&picker)
    while move:
        s.free_moves = picker.last_end
        value[0] = search_probcut(s, node, move, raised_beta) if move != node.ss.excluded else -INFINITE
        if s.stopped or value[0] >= raised_beta:
            break
        move = next_move(&picker)
    s.free_moves = base
    if s.stopped or not move:
        return False
    store_node(s, node, value[0], BOUND_LOWER, node.depth - tune.probcut_reduction + 1, move)
    if is_decisive(value[0]):
        return False
    value[0] -= raised_beta - node.beta
    return True


# ---- singular extension and multi-cut (Y. Björnsson) ----

cdef int search_alternatives(Searcher *s, const Node *node, Move move, int beta) noexcept nogil:
    """The value of the node without the move, by a shallower search."""
    cdef int value
    node.ss.excluded = move
    value = search_node(s, beta - 1, beta, (node.depth - 1) // 2, node.ply, node.cut)
    node.ss.excluded = NO_MOVE
    return value


cdef inline bint search_singular(Searcher *s, Node *node, Candidate *candidate) noexcept nogil:
    """Search the alternatives of the hash move and set its extension; True where they cut the node (multi-cut).

    Where the hash move is the only good one, the others are searched a ply deeper, too.
    """
    cdef int beta, value
    if not may_be_singular(s, node, candidate.move):
        return False
    beta = singular_beta(node)      # once: the search of the alternatives can change node.ss.on_pv
    value = search_alternatives(s, node, candidate.move, beta)
    if not s.stopped and multi_cut(node, beta - value, value):
        punish_hash_move(s, node)
        node.best_value = value
        return True
    candidate.extension = singular_extension(s, node, beta - value)
    node.depth += candidate.extension > 0
    return False


# ---- late move reduction ----

cdef int search_reduced(Searcher *s, Node *node, const Candidate *candidate, int amount, int *depth) noexcept nogil:
    """A reduced zero-window search, and the full depth only where that beats alpha; `depth` becomes that one."""
    cdef int reduced = clamp(depth[0] - amount // 1024, 1, depth[0] + 2 if depth[0] > 0 else 1) + node.pv
    cdef int value
    node.ss.reduction = depth[0] - reduced
    value = -search_node(s, -node.alpha - 1, -node.alpha, reduced, node.ply + 1, True)
    node.ss.reduction = 0
    if value <= node.alpha or s.stopped:
        return value
    depth[0] = full_depth(node, value, reduced, depth[0])
    if depth[0] > reduced:
        value = -search_node(s, -node.alpha - 1, -node.alpha, depth[0], node.ply + 1, not node.cut)
    if not s.stopped:
        update_continuations(node.ss, candidate.move32, tune.post_lmr_bonus)
    return value


# ---- the main search ----

cdef inline int unreduced_depth(const Node *node, int amount, int depth) noexcept nogil:
    """Of a zero-window search that late move reduction does not apply to: a ply or two less where it would be large."""
    amount += tune.unreduced_no_hash * (node.tt.move == NO_MOVE)
    return depth - (amount > tune.unreduced_one_ply) - (amount > tune.unreduced_two_plies and depth > 2)


cdef int search_move(Searcher *s, Node *node, const Candidate *candidate, int new_depth) noexcept nogil:
    """The value of a move: zero window first, the open window where it is the first or beats alpha (PVS)."""
    cdef int depth, amount, value = -INFINITE
    node.ss.history = move_history(s, node, candidate)
    depth = new_depth + candidate.extension
    amount = reduction(s, node, candidate)
    (node.ss + 1).pv_length = 0
    make_move(s, node.ss, candidate.move, candidate.move32)
    if may_reduce(node):
        value = search_reduced(s, node, candidate, amount, &depth)
    elif not node.pv or node.move_count > 1:
        value = -search_node(s, -node.alpha - 1, -node.alpha, unreduced_depth(node, amount, depth), node.ply + 1,
                             not node.cut)
    if node.pv and (node.move_count == 1 or value > node.alpha):
        (node.ss + 1).pv_length = 0
        if candidate.move == node.tt.move and node.tt.depth > (0 if is_decisive(node.tt_value) else 1) and depth < 1:
            depth = 1
        value = -search_node(s, -node.beta, -node.alpha, depth, node.ply + 1, False)
    undo_move(&s.pos)
    return value


cdef void init_main_picker(Searcher *s, Node *node, Picker *picker) noexcept nogil:
    init_check_info(&s.pos, &node.check_info)
    init_picker(picker, &s.pos, s.histories, s.free_moves, PICK_MAIN, node.tt.move)
    picker.ply = node.ply
    picker.check_info = &node.check_info
    set_picker_histories(picker, node.ss)


cdef inline void reduce_after_alpha(Node *node, int value) noexcept nogil:
    """A move that raised alpha is found: the others are searched less deep."""
    if 2 < node.depth < tune.after_alpha_depth and not is_decisive(value):
        node.depth -= tune.after_alpha


cdef inline void begin_move(Searcher *s, Node *node, Move move, Candidate *candidate) noexcept nogil:
    node.move_count += 1
    node.ss.move_count = node.move_count
    init_candidate(s, node, move, candidate)
    candidate.reduction = base_reduction(s, node)


cdef int search_moves(Searcher *s, Node *node) noexcept nogil:
    """Every move that no rule leaves out."""
    cdef Picker picker
    cdef Candidate candidate
    cdef ScoredMove *base = s.free_moves
    cdef int value, new_depth
    cdef Move move
    init_main_picker(s, node, &picker)
    while True:
        move = next_move(&picker)
        if not move:
            break
        if move == node.ss.excluded:
            continue
        s.free_moves = picker.last_end
        begin_move(s, node, move, &candidate)
        new_depth = node.depth - 1
        if may_prune_moves(node):
            if node.move_count >= late_move_limit(node):
                picker.skip_quiets = True
            if prunes_move(s, node, &candidate, new_depth - candidate.reduction // 1024):
                continue
        if search_singular(s, node, &candidate) or s.stopped:
            break
        prefetch_next(s, &picker)
        value = search_move(s, node, &candidate, new_depth)
        if s.stopped:
            break
        if update_best(node, move, value):
            node.ss.cutoffs += candidate.extension < 2 or node.pv
            count_cut(node, node.depth, picker.stage)
            break
        if move == node.best_move:
            reduce_after_alpha(node, value)
        else:
            add_tried_move(node, &candidate)
    s.free_moves = base
    return node.best_value


cdef int finish_node(Searcher *s, Node *node) noexcept nogil:
    """The node's value: a loss without legal moves; else the histories are updated and the result stored."""
    if s.stopped:
        return 0
    if node.move_count == 0:
        return value_without_moves(node)
    if node.best_value >= node.beta and not node.best_move:     # multi-cut: a shallower search said so
        return node.best_value
    if node.best_value >= node.beta and not is_decisive(node.best_value) and not is_decisive(node.alpha):
        node.best_value = (node.best_value * node.depth + node.beta) // (node.depth + 1)
    if node.best_move:
        update_histories(s, node)
        update_hash_move_history(s, node)
    else:
        update_prior_move(s, node)
    if node.best_value <= node.alpha:
        join_line_before(node)
    if not node.ss.excluded:
        store_node(s, node, node.best_value, bound_of(node), node.depth, node.best_move)
    update_correction(s, node)
    return node.best_value


cdef bint prune_node(Searcher *s, Node *node, int *value) noexcept nogil:
    """The rules that need a static value, so not in check: whether one of them ends the node; some change its depth."""
    if not node.tt.hit and not node.ss.excluded:
        store_node(s, node, 0, BOUND_NONE, STATIC_DEPTH, NO_MOVE)
    update_by_gain(s, node)
    node.depth += hindsight(node)
    if razors(node):
        value[0] = quiescence(s, node.alpha, node.beta, node.ply)
        return True
    if reverse_futility(node):
        value[0] = reverse_futility_value(node)
        return True
    if try_null_move(s, node, value) or s.stopped:
        return True
    node.improving = node.improving or node.ss.static_value >= node.beta
    node.depth -= iir_reduction(node)
    return try_probcut(s, node, value)


cdef int search_node(Searcher *s, int alpha, int beta, int depth, int ply, bint cut) noexcept nogil:
    """The value of the position within the window, to `depth` plies: the steps of a node in their order."""
    cdef Node node
    cdef Move mate
    cdef int value = 0
    if depth <= 0:
        return quiescence(s, alpha, beta, ply)
    init_node(s, &node, alpha, beta, depth, ply, cut)
    node.ss.pawn_history = pawn_history(s.histories, &s.pos)
    if check_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    if not node.ss.excluded:
        if game_over(s, &node, &value):
            return value
        # Mate distance: no mate from here on is better or worse than one already found.
        node.alpha = clamp(alpha, ply - MATE, MATE)
        node.beta = clamp(beta, -MATE, MATE - ply - 1)
        if node.alpha >= node.beta:
            return node.alpha
    probe_table(s, &node)
    if tt_cuts(&node):
        update_after_tt_cutoff(s, &node)
        return node.tt_value
    mate = find_mate(s, &node)
    if mate:
        return mate_node(s, &node, mate)
    set_static_value(s, &node)
    if not node.in_check and (prune_node(s, &node, &value) or s.stopped):
        return value
    if small_probcut(&node):
        return node.beta + tune.small_probcut_margin
    search_moves(s, &node)
    return finish_node(s, &node)


# ---- quiescence ----

cdef int stand_pat(Searcher *s, Node *node) noexcept nogil:
    """The value of a node whose static value reaches beta: between the two, because a static value may be wrong."""
    node.best_value = node.value
    if not is_decisive(node.best_value) and not is_decisive(node.beta):
        node.best_value -= (node.best_value - node.beta) * tune.stand_pat_share // 100
    if not node.tt.hit:
        store_node(s, node, node.best_value, BOUND_LOWER, STATIC_DEPTH, NO_MOVE)
    return node.best_value


cdef void init_quiescence_picker(Searcher *s, Node *node, Picker *picker) noexcept nogil:
    init_picker(picker, &s.pos, s.histories, s.free_moves, PICK_QUIESCENCE, node.tt.move)
    set_picker_histories(picker, node.ss)


cdef int quiesce_moves(Searcher *s, Node *node) noexcept nogil:
    cdef Picker picker
    cdef ScoredMove *base = s.free_moves
    cdef Move move
    cdef int value
    init_quiescence_picker(s, node, &picker)
    while True:
        move = next_move(&picker)
        if not move:
            break
        node.move_count += 1
        if node.move_count == 1 and not node.in_check:      # most nodes have no capture
            init_check_info(&s.pos, &node.check_info)
        if prune_in_quiescence(s, node, move):
            continue
        s.free_moves = picker.last_end
        make_move(s, node.ss, move, to_move32(&s.pos, move))
        value = -quiescence(s, -node.beta, -node.alpha, node.ply + 1)
        undo_move(&s.pos)
        if s.stopped:
            break
        if update_best(node, move, value):
            count_cut(node, 0, picker.stage)
            break
    s.free_moves = base
    return node.best_value


cdef int quiescence(Searcher *s, int alpha, int beta, int ply) noexcept nogil:
    """Captures and pawn promotions; in check captures that lose little, and quiet moves until one is not mated."""
    cdef Node node
    cdef Move mate
    cdef int value = 0
    init_node(s, &node, alpha, beta, 0, ply, False)
    if check_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    if game_over(s, &node, &value):
        return value
    probe_table(s, &node)
    # Not because this leaf is on the line now: its entry would forbid reverse futility pruning from then on.
    node.ss.on_pv = node.tt.hit and node.tt.on_pv
    if quiescence_cuts(&node):
        return node.tt_value
    mate = find_mate(s, &node)
    if mate:
        return mate_node(s, &node, mate)
    set_static_value(s, &node)
    if not node.in_check:
        if node.value >= node.beta:
            return stand_pat(s, &node)
        node.best_value = node.value
        node.alpha = node.value if node.value > node.alpha else node.alpha
    quiesce_moves(s, &node)
    if s.stopped:
        return 0
    if node.in_check and node.move_count == 0:
        return ply - MATE
    if node.best_value > node.beta and not is_decisive(node.best_value):
        node.best_value = (node.best_value + node.beta) // 2
    store_node(s, &node, node.best_value, BOUND_LOWER if node.best_value >= node.beta else BOUND_UPPER,
               QUIESCENCE_DEPTH, node.best_move)
    return node.best_value


# ---- the root ----

cdef void init_search(Searcher *s, int depth) noexcept nogil:
    """Stack and reductions for a new search of the root."""
    cdef int i
    cdef double scale = tune.lmr_scale / 128.0
    for i in range(1, 256):
        s.reductions[i] = <int>(scale * log(i))
    for i in range(STACK_OFFSET):
        s.stack[i].move = NO_MOVE
        s.stack[i].continuation = &s.histories.continuation[0][0]
        s.stack[i].correction = &s.histories.move_correction[0][0]
        s.stack[i].static_value = NO_VALUE
        s.stack[i].in_check = s.stack[i].tt_hit = s.stack[i].on_pv = False
        s.stack[i].move_count = s.stack[i].history = 0
    s.stopped = False
    s.root_depth = depth
    s.seldepth = 0
    s.null_min_ply = 0
    s.free_moves = s.move_memory


cdef void init_root(Searcher *s, Node *node, int depth, int alpha, int beta, int first) noexcept nogil:
    init_search(s, depth)
    s.root_window = beta - alpha
    if s.roots[first].bound == BOUND_EXACT:
        s.last_pv_length = s.roots[first].pv_length
        memcpy(s.last_pv, s.roots[first].pv, s.last_pv_length * sizeof(Move))
    init_node(s, node, alpha, beta, depth, 0, False)
    node.ss.pawn_history = pawn_history(s.histories, &s.pos)
    probe_table(s, node)
    node.tt.move = s.roots[first].move
    node.tt_capture = not is_quiet(&s.pos, node.tt.move)
    node.ss.on_pv = True
    set_static_value(s, node)
    node.improving = node.improving or (not node.in_check and node.ss.static_value >= node.beta)


cdef bint search_root_move(Searcher *s, Node *node, RootMove *root) noexcept nogil:
    """Whether it ends the search of the root: stopped, or beta is reached."""
    cdef Candidate candidate
    cdef uint64_t nodes_before = s.nodes
    cdef int value
    root.searched = True
    begin_move(s, node, root.move, &candidate)
    value = search_move(s, node, &candidate, node.depth - 1)
    if check_stop(s):
        return True
    root.nodes += s.nodes - nodes_before
    update_root_move(s, node, root, value)
    if update_best(node, root.move, value):
        return True
    if root.move == node.best_move:
        reduce_after_alpha(node, value)
    else:
        add_tried_move(node, &candidate)
    return False


cdef void search_root_moves(Searcher *s, Node *node, int first) noexcept nogil:
    """In the picker's order, as in any node; then those that it leaves out: non-promotions that never help."""
    cdef Picker picker
    cdef ScoredMove *base = s.free_moves
    cdef RootMove *root
    cdef Move move
    cdef bint ended = False
    cdef int i
    init_main_picker(s, node, &picker)
    while not ended:
        move = next_move(&picker)
        if not move:
            break
        s.free_moves = picker.last_end
        root = find_root_move(s, first, move)
        ended = root != NULL and search_root_move(s, node, root)
    for i in range(first, s.root_count):
        if not ended and not s.roots[i].searched:
            ended = search_root_move(s, node, s.roots + i)
    s.free_moves = base


cdef int search_root(Searcher *s, int depth, int alpha, int beta, int first) noexcept nogil:
    cdef Node node
    cdef int i
    init_root(s, &node, depth, alpha, beta, first)
    for i in range(first, s.root_count):
        s.roots[i].previous = s.roots[i].value
        s.roots[i].value = -INFINITE
        s.roots[i].searched = False
    search_root_moves(s, &node, first)
    sort_root_moves(s, first)
    if not s.stopped and first == 0:
        return finish_node(s, &node)
    return node.best_value
