"""The search of one depth for Python: transposition table, stop token, one Worker per thread; and the mate solver.

Values are centipawns for the side to move at the root. A mate in n plies is MATE - n for the side that mates, else
n - MATE; |value| >= MATE_BOUND means mate. INFINITE is above every value. An evaluation is at most MAX_EVALUATION;
values between it and MATE_BOUND are won by rule: DECLARATION - n by declaration or try in n plies, less by
perpetual check. engine.pyi declares the types.
"""

from libc.stdlib cimport free

from core_ext.board cimport Board, declaration_rule
from core_ext.mate.shared cimport MAX_HELPERS, SharedSearch
from core_ext.mate.solver cimport Solver, allocate_solver, avoid_position, free_solver, set_root
from core_ext.eval.kpp import weights as _weights
from core_ext.eval.nnue import network as _network
from core_ext.eval import piece_values as _piece_values
from core_ext.eval cimport bonapiece
from core_ext.base.arithmetic cimport clamp
from core_ext.base.atomic cimport load_word, store_word
from core_ext.base.memory cimport allocate_zeroed
from core_ext.base.stop cimport (
    Stop, clear_stop, monotonic_ns, past_deadline, request_stop, set_deadline, stop_requested,
)
from core_ext.eval.evaluate cimport Evaluator, evaluate_terms, free_evaluator, init_evaluator
from core_ext.eval.kpp cimport weights as kpp_weights
from core_ext.shogi.movegen cimport generate_legal
from core_ext.shogi.position cimport Position, copy_position
from core_ext.mate.proof_table cimport (
    ProofTable, proof_table_allocate, proof_table_clear, proof_table_free, proof_table_fullness,
)
from core_ext.search.search cimport search_iteration
from core_ext.search.searcher cimport (
    RootMove, Sample, Searcher, allocate_samples, allocate_searcher, clear_searcher, free_searcher, new_root,
)
from core_ext.shogi.sfen cimport format_move, parse_move
from core_ext.mate.mating_line cimport (
    AIM_FIRST, AIM_SHORTER, AIM_SHORTEST, SOLVED_MATE, SOLVED_NO_MATE, UNSOLVED, Solution, solve, solve_check,
)
from core_ext.mate.team cimport free_helpers
from core_ext.search import tune as _tune
from core_ext.search.tt cimport (
    BOUND_EXACT, BOUND_LOWER, BOUND_UPPER, tt_allocate, tt_clear, tt_free, tt_hashfull, tt_new_search, tt_touch,
)
from core_ext.shogi cimport types
from core_ext.shogi.types cimport MAX_MOVES, MAX_PLY, Move, uint64_t

MATE = types.MATE
MATE_BOUND = types.MATE_BOUND
DECLARATION = types.DECLARATION
INFINITE = types.INFINITE
MAX_DEPTH = types.MAX_DEPTH
MAX_EVALUATION = types.MAX_EVALUATION

BONAPIECES = bonapiece.BONAPIECES
HALF_SQUARES = bonapiece.HALF_SQUARES
PAIRS = bonapiece.PAIRS
FV_SCALE = kpp_weights.FV_SCALE
TEMPO_STEP = kpp_weights.TEMPO_STEP
SQUARES = types.SQUARES

KppWeights = _weights.KppWeights
Network = _network.Network
weight_memory = _network.weight_memory
INSTRUCTIONS = _network.INSTRUCTIONS
check_architecture = _network.check_architecture
PieceValues = _piece_values.PieceValues
Evaluation = KppWeights | Network | PieceValues
set_tunable = _tune.set_tunable
tunable = _tune.tunable
tunables = _tune.tunables

_BOUNDS = {BOUND_EXACT: "exact", BOUND_LOWER: "lower", BOUND_UPPER: "upper"}
_AIMS = {"first": AIM_FIRST, "short": AIM_SHORTER, "shortest": AIM_SHORTEST}
_STATUSES = {UNSOLVED: "unknown", SOLVED_MATE: "mate", SOLVED_NO_MATE: "nomate"}

cdef int _LARGEST_ROOM = 1 << 16    # samples of half a kilobyte each

# Limit of set_in in seconds, about thirty years; as nanoseconds it fits 64 bits.
cdef double LONGEST_DELAY = 1e9


cdef class StopToken:
    """A stop signal for searches. Any thread may set it; the searches that share it stop within a millisecond."""

    cdef Stop stop

    def set(self):
        """Stop now."""
        request_stop(&self.stop)

    def set_in(self, seconds: float):
        """Stop in `seconds` (0 or less: now). A later call replaces an earlier one.

        Searches compare the deadline with the clock themselves, so no thread needs to wake up in time.
        """
        # NaN too means now.
        cdef double delay = seconds if -LONGEST_DELAY < seconds < LONGEST_DELAY else LONGEST_DELAY * (seconds > 0)
        set_deadline(&self.stop, monotonic_ns() + <long long>(delay * 1e9))

    def clear(self):
        """Withdraw the stop and the deadline."""
        clear_stop(&self.stop)

    def is_set(self):
        """Return whether a stop was requested or the deadline has passed."""
        return bool(stop_requested(&self.stop) or past_deadline(&self.stop))


cdef int check_part(int part, int parts) except -1:
    if not 0 <= part < parts:
        raise ValueError(f"part {part} of {parts}")
    return 0


cdef class Table:
    """A transposition table of `megabytes`, shared by workers. ValueError below 1; MemoryError names the size.

    The system provides its memory at the first use of each page, or at `touch`.
    """

    def __cinit__(self, int megabytes):
        if megabytes < 1:
            raise ValueError(f"a transposition table of {megabytes} MB")
        tt_allocate(&self.table, megabytes)
        self.megabytes = megabytes

    def __dealloc__(self):
        tt_free(&self.table)

    def clear(self, int part=0, int parts=1):
        """Remove every entry, or those of one of `parts` equal parts, which threads may clear in parallel. ValueError
        if there is no such part.
        """
        check_part(part, parts)
        with nogil:
            tt_clear(&self.table, part, parts)

    def touch(self, int part, int parts):
        """Have the memory of a part of a new table provided now, not during the first search. Parts as in `clear`."""
        check_part(part, parts)
        with nogil:
            tt_touch(&self.table, part, parts)

    def new_search(self):
        """Age every entry by one search."""
        tt_new_search(&self.table)

    def hashfull(self):
        """Return the permille of entries written by the current search."""
        return tt_hashfull(&self.table)


cdef class RootLine:
    """A root move and its result in the last search of the root.

    value     exact or a bound; -INFINITE if the move was not reached or did not beat alpha
    previous  value in the search before, which may have had the same depth; -INFINITE if there is none
    bound     `exact`, `lower` or `upper`: the kind of `value`
    seldepth  greatest ply reached
    nodes     nodes searched below the move since set_root
    pv        legal moves, starting with the root move
    """

    cdef readonly int value
    cdef readonly int previous
    cdef readonly str bound
    cdef readonly int seldepth
    cdef readonly unsigned long long nodes
    cdef readonly list pv


cdef RootLine line_of(const RootMove *root):
    cdef RootLine line = RootLine.__new__(RootLine)
    line.value = root.value
    line.previous = root.previous
    line.bound = _BOUNDS[root.bound]
    line.seldepth = root.seldepth
    line.nodes = root.nodes
    line.pv = [format_move(root.pv[i]) for i in range(root.pv_length)]
    return line


cdef list legal_moves(const Position *pos, bint include_all):
    cdef Move moves[MAX_MOVES]
    cdef Move *last = generate_legal(pos, moves, include_all)
    cdef int i
    return [moves[i] for i in range(last - moves)]


cdef list parse_moves(const Position *pos, list texts):
    """Return the moves in the order of the texts, without repetitions. ValueError if one is not legal."""
    return list(dict.fromkeys([parse_move(pos, text) for text in texts]))


cdef class Worker:
    """The search of one thread. While it searches, other threads may only read `nodes`; anything else raises
    RuntimeError.

    Workers that share a table and a stop token search in parallel (lazy SMP), each with its own histories. All workers
    search alike; they diverge through the timing of their reads from the table. Without weights the static value is
    material. With `lazy` the memory of the histories (31 MB) is provided at first use, otherwise at once.
    """

    cdef Searcher searcher
    cdef Evaluator evaluator
    cdef Table table
    cdef StopToken stop
    cdef object weights             # keeps the memory alive that the evaluator reads
    cdef int draws[2]
    cdef bint include_all
    cdef bint searching

    def __cinit__(self, Table table not None, StopToken stop not None, weights=None, lazy: bool = False):
        allocate_searcher(&self.searcher, lazy)
        self.table = table
        self.stop = stop
        self.searcher.table = &table.table
        self.searcher.stop = &stop.stop
        self.weights = weights
        init_evaluator(&self.evaluator, weights)
        self.searcher.evaluator = &self.evaluator

    def __dealloc__(self):
        free_evaluator(&self.evaluator)
        free_searcher(&self.searcher)

    cdef int _check_idle(self) except -1:
        if self.searching:
            raise RuntimeError("the worker is searching in another thread")
        return 0

    def new_game(self):
        """Clear the histories, but not the table."""
        self._check_idle()
        clear_searcher(&self.searcher)

    def configure(self, *, int draw_black=-2, int draw_white=-2, int max_moves=0,
                  declaration: str = "CSARule27", bint include_all=False):
        """Set the rules of the game for the next searches.

        draw_black, draw_white  value of a draw in centipawns for Black and White, at most MAX_EVALUATION either way;
                                ValueError for the value of a mate
        max_moves               the game is a draw after this number of moves; 0 = never
        declaration             rule of winning by declaration, as for Board.can_declare; ValueError for another
        include_all             whether root moves include non-promotions that never help
        """
        self._check_idle()
        if not (-types.MATE_BOUND < draw_black < types.MATE_BOUND
                and -types.MATE_BOUND < draw_white < types.MATE_BOUND):
            raise ValueError(f"a draw must be worth less than {types.MATE_BOUND}, not {draw_black} and {draw_white}")
        self.searcher.declaration = declaration_rule(declaration)
        self.draws[0] = clamp(draw_black, -types.MAX_EVALUATION, types.MAX_EVALUATION)
        self.draws[1] = clamp(draw_white, -types.MAX_EVALUATION, types.MAX_EVALUATION)
        self.searcher.max_moves = max_moves
        self.include_all = include_all

    def sample(self, int every, int room=256):
        """From now on, sample every `every`-th evaluated position, at most `room` of them until set_root; 0 = none.

        ValueError if a number is out of range; MemoryError.
        """
        self._check_idle()
        if every < 0 or not 0 < room <= _LARGEST_ROOM:
            raise ValueError(f"cannot sample every {every}th position, {room} at most")
        allocate_samples(&self.searcher, every, room)

    def samples(self):
        """Return the lines from the root to the sampled positions, as lists of USI moves. None has a null move."""
        cdef Sample *sample
        cdef int i, k
        self._check_idle()
        found = []
        for i in range(self.searcher.samples.count):
            sample = &self.searcher.samples.sample[i]
            found.append([format_move(sample.moves[k]) for k in range(sample.length)])
        return found

    def set_root(self, Board board not None, moves=None):
        """Copy the position with its game history; reset `nodes`; return the number of root moves.

        The root moves are the legal moves, or `moves` if given; repetitions do not count. ValueError if one is not
        legal.
        """
        cdef int us = board.pos.side
        named = None if moves is None else list(moves)  # may run Python code, which could change the board
        self._check_idle()
        chosen = legal_moves(&board.pos, self.include_all) if named is None else parse_moves(&board.pos, named)
        copy_position(&self.searcher.pos, &board.pos, MAX_PLY + 2)
        self.searcher.draw_value[us] = self.draws[us]
        self.searcher.draw_value[us ^ 1] = -self.draws[us]
        self._set_root_moves(chosen)
        new_root(&self.searcher)
        return self.searcher.root_count

    cdef void _set_root_moves(self, list chosen):
        """Set the root moves. `chosen` are different legal moves, so there is room for all."""
        cdef int i
        cdef RootMove *root
        for i, move in enumerate(chosen):
            root = self.searcher.roots + i
            root.move = move
            root.value = root.previous = -types.INFINITE
            root.bound = BOUND_EXACT
            root.seldepth = 0
            root.nodes = 0
            root.pv[0] = move
            root.pv_length = 1
        self.searcher.root_count = len(chosen)

    def search(self, int depth, int alpha, int beta, int first=0, uint64_t node_limit=0):
        """Search the root moves from index `first` on to `depth` in the window (alpha, beta), without the GIL.

        Return the value. Sort the root lines, best first: all if it is in the window, else those from `first` on.
        `node_limit` counts all nodes since set_root (0 = none). If `stopped` is true afterwards, the value is void and
        the root lines hold what was found before the stop. ValueError if depth, window or index is out of range.
        """
        cdef int value
        self._check_idle()
        if not 0 <= first < self.searcher.root_count:
            raise ValueError(f"no root move number {first} of {self.searcher.root_count}")
        if not (1 <= depth <= types.MAX_DEPTH and -types.INFINITE <= alpha < beta <= types.INFINITE):
            raise ValueError(f"cannot search to depth {depth} between {alpha} and {beta}")
        self.searcher.node_limit = node_limit
        self.searcher.next_check = 0
        self.searching = True
        with nogil:
            value = search_iteration(&self.searcher, depth, alpha, beta, first)
        self.searching = False
        return value

    @property
    def stopped(self):
        """True if the stop or the node limit ended the last search."""
        self._check_idle()
        return bool(self.searcher.stopped)

    @property
    def nodes(self):
        """Nodes since set_root. May be read from any thread."""
        return load_word(&self.searcher.nodes)

    @property
    def seldepth(self):
        """Greatest ply that the last search reached."""
        self._check_idle()
        return self.searcher.seldepth

    def lines(self, int count=1):
        """Return the first `count` root lines, best first."""
        self._check_idle()
        return [line_of(self.searcher.roots + i) for i in range(min(count, self.searcher.root_count))]

    def evaluate(self, Board board not None):
        """Return (name, value) of each term of the static value, last `total`; centipawns for the side to move."""
        self._check_idle()
        return evaluate_terms(&self.evaluator, &board.pos)


cdef class MateSolver:
    """A proof-number search for mates, with a proof table of `megabytes` (ValueError below 1, MemoryError).

    The attacker is the side to move; all its moves are checks. Results are kept for later calls. With
    `count_all_interpositions` futile interpositions count as moves of a mate. While it solves, other threads may only
    read `nodes` and `hashfull` and set `threads`; anything else raises RuntimeError.

    With `threads` above 1 (ValueError if not 1 to 512) it starts threads of its own for a problem that takes more than
    some milliseconds; a solve by one thread repeats exactly.
    """

    cdef Solver solver
    cdef ProofTable table
    cdef StopToken stop
    cdef Solution solution
    cdef bint solving

    def __cinit__(self, int megabytes, StopToken stop not None, count_all_interpositions: bool = False,
                  threads: int = 1):
        if megabytes < 1:
            raise ValueError(f"a mate table of {megabytes} MB")
        self.solver.count_all_interpositions = count_all_interpositions
        self.stop = stop
        self.solver.stop = &stop.stop
        self.solver.table = &self.table
        self.solver.shared = <SharedSearch *>allocate_zeroed(1, sizeof(SharedSearch))
        if self.solver.shared == NULL:
            raise MemoryError("no memory for a mate search")
        self.threads = threads
        allocate_solver(&self.solver)
        proof_table_allocate(&self.table, megabytes)

    def __dealloc__(self):
        if self.solver.shared != NULL:
            free_helpers(&self.solver)
        free(self.solver.shared)
        free_solver(&self.solver)
        proof_table_free(&self.table)

    cdef int _check_idle(self) except -1:
        if self.solving:
            raise RuntimeError("the solver is solving in another thread")
        return 0

    cdef tuple _answer(self, int status):
        """End a solve; return its status in words and its moves."""
        self.solving = False
        return _STATUSES[status], [format_move(self.solution.line[i]) for i in range(self.solution.length)]

    def clear(self):
        """Remove every proof and disproof."""
        self._check_idle()
        with nogil:
            proof_table_clear(&self.table)

    def solve(self, Board board not None, uint64_t node_limit=0, aim: str = "short"):
        """Return ("mate", moves), ("nomate", []) or, at the stop or node limit, ("unknown", []); without the GIL.

        The moves end in mate except for futile interpositions in front of a slider that captures them with mate again
        without use of the piece. The game before `board` is ignored. ValueError for another `aim`:

        first     return the first mate found
        short     look for a shorter mate for about as long as the proof took
        shortest  search until the line is the shortest mate against the longest defence (`proved_shortest`)
        """
        cdef int status, goal
        if aim not in _AIMS:
            raise ValueError(f"unknown aim '{aim}'; one of {', '.join(_AIMS)}")
        goal = _AIMS[aim]
        self._check_idle()
        set_root(&self.solver, &board.pos)
        self.solver.node_limit = node_limit
        self.solving = True
        with nogil:
            status = solve(&self.solver, &self.solution, goal)
        return self._answer(status)

    def solve_check(self, Board board not None, check: str, uint64_t node_limit=0, avoided=()):
        """Solve the position after one check: does it mate against every evasion? Return as in `solve`.

        The moves begin with the check; they are the shortest mate if it is found as quickly as the proof. `avoided` are
        boards with the attacker to move: it must mate without a return to one of them, also with fewer pieces in hand.
        ValueError if the move is illegal or no check.
        """
        cdef list others = [<Board?>other for other in avoided]
        cdef int status
        cdef Move move = parse_move(&board.pos, check)
        if not Board.gives_check(board, check):     # not a subclass's, which may change the board
            raise ValueError(f"'{check}' gives no check")
        self._check_idle()
        set_root(&self.solver, &board.pos)
        for other in others:
            avoid_position(&self.solver, &(<Board>other).pos, False)
        for other in others:
            avoid_position(&self.solver, &(<Board>other).pos, True)
        self.solver.node_limit = node_limit
        self.solving = True
        with nogil:
            status = solve_check(&self.solver, &self.solution, move)
        return self._answer(status)

    @property
    def proved_shortest(self):
        """True if the last line is proved to be a shortest mate."""
        self._check_idle()
        return bool(self.solution.shortest)

    @property
    def nodes(self):
        """Positions visited by the last or current solve. May be read from any thread."""
        return load_word(&self.solver.nodes) + load_word(&self.solver.shared.nodes)

    @property
    def threads(self):
        """Number of threads that solve. May be set from any thread: a running solve adds threads, but ends none."""
        return load_word(&self.solver.shared.wanted)

    @threads.setter
    def threads(self, threads: int):
        cdef long long wanted = min(max(threads, 0), MAX_HELPERS + 2)
        if not 1 <= wanted <= MAX_HELPERS + 1:
            raise ValueError(f"threads must be from 1 to {MAX_HELPERS + 1}, not {threads}")
        store_word(&self.solver.shared.wanted, wanted)

    @property
    def expanded(self):
        """Positions among `nodes` that the last solve expanded."""
        self._check_idle()
        return self.solver.expanded

    @property
    def hashfull(self):
        """Permille of the proof table in use. May be read from any thread."""
        return proof_table_fullness(&self.table)
