"""The search as Python sees it; every signature and its contract stands in engine.pyi."""

from core_ext.board cimport Board, declaration_rule
from core_ext.mate.dfpn cimport Solver, allocate_solver, free_solver, set_root
from core_ext.eval.kpp import weights as _weights
from core_ext.eval.bonapiece cimport (
    BONAPIECES as _BONAPIECES, HALF_SQUARES as _HALF_SQUARES, PAIRS as _PAIRS,
)
from core_ext.eval.evaluate cimport Evaluator, evaluate_terms, free_evaluator, init_evaluator
from core_ext.eval.kpp.weights cimport FV_SCALE as _FV_SCALE, TEMPO_STEP as _TEMPO_STEP, Weights as WeightMemory
from core_ext.base.stop cimport Stop, past_deadline, monotonic_ns
from core_ext.shogi.movegen cimport generate_legal
from core_ext.shogi.position cimport copy_position
from core_ext.mate.proof_table cimport clear_table as clear_proofs, table_fullness
from core_ext.search.search cimport allocate_searcher, forget, free_searcher, search_root
from core_ext.search.stack cimport FRAMES_BEHIND, RootMove, Searcher
from core_ext.shogi.sfen cimport format_move, parse_move
from core_ext.mate.mating_line cimport (
    AIM_FIRST, AIM_SHORTER, AIM_SHORTEST, SOLVED_MATE, SOLVED_NO_MATE, SOLVED_UNKNOWN, Solution, solve,
)
from core_ext.search import tune as _tune
from core_ext.search.tt cimport (
    BOUND_EXACT, BOUND_LOWER, BOUND_NONE, BOUND_UPPER, Table as TableMemory, age_table, allocate_table, clear_table,
    free_table, table_fill,
)
from core_ext.shogi.types cimport MAX_MOVES, MAX_PLY, Move, NO_MOVE
from core_ext.shogi.types cimport (
    INFINITE as _INFINITE, MATE as _MATE, MATE_BOUND as _MATE_BOUND, MAX_DEPTH as _MAX_DEPTH,
    SQUARES as _SQUARES,
)

MATE = _MATE
MATE_BOUND = _MATE_BOUND
INFINITE = _INFINITE
MAX_DEPTH = _MAX_DEPTH

BONAPIECES = _BONAPIECES
HALF_SQUARES = _HALF_SQUARES
PAIRS = _PAIRS
FV_SCALE = _FV_SCALE
TEMPO_STEP = _TEMPO_STEP
SQUARES = _SQUARES

Weights = _weights.Weights
set_tunable = _tune.set_tunable
tunable = _tune.tunable
tunables = _tune.tunables

_BOUNDS = {BOUND_NONE: "exact", BOUND_EXACT: "exact", BOUND_LOWER: "lower", BOUND_UPPER: "upper"}
_AIMS = {"first": AIM_FIRST, "shorter": AIM_SHORTER, "shortest": AIM_SHORTEST}
_STATUSES = {SOLVED_UNKNOWN: "unknown", SOLVED_MATE: "mate", SOLVED_NO_MATE: "nomate"}

# Seconds, some thirty years: the most that set_in counts with, so that nanoseconds fit.
cdef double FAR_OFF = 1e9


cdef class StopToken:
    cdef Stop stop

    def set(self):
        self.stop.requested = 1

    def set_in(self, seconds: float):
        self.stop.deadline = monotonic_ns() + <long long>(max(min(<double>seconds, FAR_OFF), -FAR_OFF) * 1e9)

    def clear(self):
        self.stop.requested = 0
        self.stop.deadline = 0

    def is_set(self):
        return self.stop.requested != 0 or past_deadline(&self.stop)


cdef class Table:
    cdef TableMemory table
    cdef readonly int megabytes

    def __init__(self, megabytes: int):
        if megabytes < 1:
            raise ValueError(f"a transposition table of {megabytes} MB")
        free_table(&self.table)
        allocate_table(&self.table, megabytes)
        self.megabytes = megabytes

    def __dealloc__(self):
        free_table(&self.table)

    def clear(self):
        with nogil:
            clear_table(&self.table)

    def new_search(self):
        age_table(&self.table)

    def hashfull(self):
        return table_fill(&self.table)


cdef class RootLine:
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


cdef class Worker:
    cdef Searcher searcher
    cdef Evaluator evaluator
    cdef Table table
    cdef StopToken stop
    cdef WeightMemory weights
    cdef int index
    cdef int draws[2]
    cdef bint include_all

    def __cinit__(self, Table table not None, StopToken stop not None, int index=0, WeightMemory weights=None):
        allocate_searcher(&self.searcher)
        self.table = table
        self.stop = stop
        self.index = index
        self.searcher.table = &table.table
        self.searcher.stop = &stop.stop
        self.weights = weights
        init_evaluator(&self.evaluator, weights)
        self.searcher.evaluator = &self.evaluator

    def __dealloc__(self):
        free_evaluator(&self.evaluator)
        free_searcher(&self.searcher)

    def new_game(self):
        forget(&self.searcher)

    def configure(self, *, draw_black: int = -2, draw_white: int = -2, max_moves: int = 0,
                  declaration: str = "CSARule27", include_all: bool = False):
        self.searcher.declaration = declaration_rule(declaration)
        self.draws[0] = draw_black
        self.draws[1] = draw_white
        self.searcher.max_moves = max_moves
        self.include_all = include_all

    def set_root(self, board: Board, moves=None):
        cdef Move legal[MAX_MOVES]
        cdef Board root = board
        cdef Move *last = generate_legal(&root.pos, legal, self.include_all)
        cdef int us = root.pos.side, i
        chosen = [legal[i] for i in range(last - legal)]
        if moves is not None:
            chosen = [parse_move(&root.pos, move) for move in moves]
        copy_position(&self.searcher.pos, &root.pos, MAX_PLY + 2)
        self.searcher.draw_value[us] = self.draws[us]
        self.searcher.draw_value[us ^ 1] = -self.draws[us]
        self._start(chosen)
        return self.searcher.root_count

    cdef void _start(self, list chosen):
        """Root moves that were not searched yet, no killers, no nodes."""
        cdef int i
        cdef RootMove *root
        for i, move in enumerate(chosen):
            root = self.searcher.roots + i
            root.move = move
            root.value = root.previous = -_INFINITE
            root.bound = BOUND_EXACT
            root.seldepth = 0
            root.nodes = 0
            root.pv[0] = move
            root.pv_length = 1
        self.searcher.root_count = len(chosen)
        self.searcher.nodes = 0
        for i in range(MAX_PLY + FRAMES_BEHIND + 2):
            self.searcher.frames[i].killers[0] = NO_MOVE
            self.searcher.frames[i].killers[1] = NO_MOVE

    def search(self, depth: int, alpha: int, beta: int, first: int = 0, node_limit: int = 0):
        cdef int plies = depth, low = alpha, high = beta, start = first, value
        if not 0 <= start < self.searcher.root_count:
            raise ValueError(f"no root move number {first} of {self.searcher.root_count}")
        if not (1 <= plies <= _MAX_DEPTH and -_INFINITE <= low < high <= _INFINITE):
            raise ValueError(f"cannot search to depth {depth} between {alpha} and {beta}")
        self.searcher.node_limit = node_limit
        self.searcher.next_check = 0
        with nogil:
            value = search_root(&self.searcher, plies, low, high, start)
        return value

    @property
    def stopped(self):
        return bool(self.searcher.stopped)

    @property
    def nodes(self):
        return self.searcher.nodes

    @property
    def seldepth(self):
        return self.searcher.seldepth

    def lines(self, count: int = 1):
        return [line_of(self.searcher.roots + i) for i in range(min(<int>count, self.searcher.root_count))]

    def evaluate(self, board: Board):
        cdef Board given = board
        return evaluate_terms(&self.evaluator, &given.pos)


cdef class MateSolver:
    cdef Solver solver
    cdef StopToken stop
    cdef Solution solution

    def __cinit__(self, megabytes: int, StopToken stop not None, count_useless: bool = False):
        if megabytes < 1:
            raise ValueError(f"a mate table of {megabytes} MB")
        self.solver.count_useless = count_useless
        self.stop = stop
        self.solver.stop = &stop.stop.requested
        allocate_solver(&self.solver, megabytes)

    def __dealloc__(self):
        free_solver(&self.solver)

    def clear(self):
        with nogil:
            clear_proofs(&self.solver.table)

    def solve(self, board: Board, node_limit: int = 0, aim: str = "shorter"):
        cdef Board given = board
        cdef int status, wanted
        if aim not in _AIMS:
            raise ValueError(f"unknown aim '{aim}'; one of {', '.join(_AIMS)}")
        wanted = _AIMS[aim]
        set_root(&self.solver, &given.pos)
        self.solver.node_limit = node_limit
        with nogil:
            status = solve(&self.solver, &self.solution, wanted)
        return _STATUSES[status], [format_move(self.solution.line[i]) for i in range(self.solution.length)]

    @property
    def proved_shortest(self):
        return bool(self.solution.shortest)

    @property
    def nodes(self):
        return self.solver.nodes

    @property
    def expanded(self):
        return self.solver.expanded

    @property
    def hashfull(self):
        return table_fullness(&self.solver.table)


def bench_search(sfens, depth: int, megabytes: int = 16, weights=None):
    cdef unsigned long long nodes = 0
    table = Table(megabytes)
    worker = Worker(table, StopToken(), 0, weights)
    worker.configure()
    for sfen in sfens:
        table.clear()
        worker.new_game()
        worker.set_root(Board(sfen))
        for plies in range(1, depth + 1):
            worker.search(plies, -_INFINITE, _INFINITE)
        nodes += worker.nodes
    return nodes
