"""The search call: one search from its specification to its result.

The first that has an answer gives it: the rules (no legal move, a win by declaration), the book, the mate solver, the
search, which at a level below full strength is that of the level.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from usi_engine.core import Board, legal_part
from usi_engine.search.iterative import Search, analysis_of, best_first, ignore
from usi_engine.search.resources import Resources
from usi_engine.search.results import Analysis, PlayResult, Score, Variation, decided, decided_play
from usi_engine.search.search_control import SearchControl
from usi_engine.search.skill import Skill, choose_line
from usi_engine.search.spec import Spec
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.info import MAX_DEPTH, MAX_EVALUATION

# Nodes of the mate solver before a search: per millisecond of the optimum time, of which it takes 1 % (it visits about
# 2,000); without a time, one for so many nodes of the search; without any limit, a twentieth of a second.
MATE_NODES_PER_MS = 20
NODES_PER_MATE_NODE = 50
MATE_NODES = 100_000
MAX_MATE_NODES = 1_000_000


def search(
    resources: Resources,
    spec: Spec,
    control: SearchControl,
    *,
    on_result: Callable[[Analysis], None] = ignore,
    on_bound: Callable[[Analysis, int], None] = ignore,
) -> Analysis:
    """Search and return the result; `on_result` and `on_bound` get what was found so far, see Search.

    Helper threads may still be stopping: `resources.wait_for_helpers` waits for them.
    """
    found = answer_of_rules(spec) or answer_of_book(resources, spec)
    if found is not None:
        return found
    if spec.skill is not None:
        return search_at_level(resources, spec, control, spec.skill)
    mate = find_mate(resources, spec, control)
    if mate is None:
        return run(resources, resources.pool, spec, control, on_result=on_result, on_bound=on_bound)
    on_result(mate)
    if spec.multipv == 1:
        return mate
    merged = partial(with_mate, mate, spec.multipv)
    return merged(run(resources, resources.pool, spec, control, on_result=lambda found: on_result(merged(found))))


def answer_of_rules(spec: Spec) -> Analysis | None:
    """Return the result if there is no legal move, or if the side to move can declare a win."""
    board, rule = spec.board, spec.rules.declaration
    if not board.legal_moves(include_all=True):
        return decided(board)
    move = None if spec.moves else board.declaration_move(rule)
    if move is None:
        return None
    if move == "win":
        return decided(type(board)(board.sfen()), rule)  # without its history: a win is declared at a repetition, too
    return replace(analysis_of([Variation(Score.declared_in(1, board.turn), (move,))], 1), source="rules")


def answer_of_book(resources: Resources, spec: Spec) -> Analysis | None:
    """Return the book's move; None if it has none or must not answer."""
    board = spec.board
    book = resources.book if spec.book_rules else None
    if book is None or spec.book_rules is None:
        return None
    chosen = book.choose(board, spec.book_rules, resources.random)
    if chosen is None:
        return None
    pv = legal_part(board, [chosen.move, *([chosen.reply] if chosen.reply else [])])
    score = Score(max(min(chosen.value, MAX_EVALUATION), -MAX_EVALUATION), board.turn)
    depth = max(min(chosen.depth, MAX_DEPTH), 1)
    return replace(analysis_of([Variation(score, pv, depth)], depth), source="book")


# ---- the mate solver ----


def find_mate(resources: Resources, spec: Spec, control: SearchControl) -> Analysis | None:
    """Spend a small share of the search on a mate by checks alone.

    Under TryRule a king in check may win by its move.
    """
    nodes = mate_nodes(spec, control)
    solver = resources.root_solver if nodes and spec.rules.declaration != "TryRule" else None
    if solver is None:
        return None
    _, moves = solver.solve(spec.board, nodes, "shortest")
    if not mates(spec, moves) or (spec.moves and moves[0] not in spec.moves):
        return None
    line = Variation(Score.mate_in(len(moves), spec.board.turn), tuple(moves), len(moves), len(moves))
    return Analysis((line,), line.score, len(moves), solver.nodes, control.total / 1000, source="mate")


def mate_nodes(spec: Spec, control: SearchControl) -> int:
    """Return the nodes for the mate solver, in proportion to the limit of time or nodes; 0 if only depth is limited."""
    if control.limits.optimum is not None:
        return min(MATE_NODES_PER_MS * control.limits.optimum, MAX_MATE_NODES)
    if spec.nodes:
        return min(spec.nodes // NODES_PER_MATE_NODE, MAX_MATE_NODES)
    return MATE_NODES if spec.depth == MAX_DEPTH else 0


def mates(spec: Spec, moves: Sequence[str]) -> bool:
    """Return whether the moves mate before a rule ends the game; the solver knows neither rules nor earlier moves."""
    board, rules = spec.board.copy(), spec.rules
    for move in moves:
        if board.outcome(rules.declaration, rules.max_moves):
            return False
        board.push(move)
    return board.is_checkmate()


def with_mate(mate: Analysis, multipv: int, found: Analysis) -> Analysis:
    """Return the result with the solver's mate instead of the line that begins with its move, unless that is better."""
    same = [line for line in found.lines if line.move == mate.move]
    others = [line for line in found.lines if line.move != mate.move]
    lines = best_first([max([mate.best, *same], key=lambda line: line.value), *others])[:multipv]
    return replace(found, lines=tuple(lines), score=lines[0].score)


# ---- the search ----


def run(
    resources: Resources,
    pool: ThreadPool,
    spec: Spec,
    control: SearchControl,
    *,
    on_result: Callable[[Analysis], None] = ignore,
    on_bound: Callable[[Analysis, int], None] = ignore,
) -> Analysis:
    """Search by iterative deepening."""
    board, named = spec.board, spec.moves
    moves = [move for move in dict.fromkeys(named) if board.is_legal(move)]
    if named and not moves:
        resources.tell(f"no move of searchmoves is legal: '{' '.join(named)}'")
    elif refused := set(named).difference(moves):
        resources.tell(f"illegal moves in searchmoves, ignored: '{' '.join(sorted(refused))}'")
    # searchmoves may name only non-promotions, which are not searched without GenerateAllLegalMoves.
    count = pool.set_root(board, moves or None, spec.rules) or pool.set_root(board, None, spec.rules)
    return Search(pool, control, spec, on_result=on_result, on_bound=on_bound).run(count)


def search_at_level(resources: Resources, spec: Spec, control: SearchControl, skill: Skill) -> Analysis:
    """Search as a weaker player. The score is the best move's, which the level may miss; its own line comes first."""
    pool = resources.skill_pool
    pool.new_game()
    found = run(resources, pool, spec.at_level(skill), control)
    chosen = choose_line(spec.board, found.lines, skill, resources.game_seed)
    others = [line for line in found.lines if line is not chosen]
    return replace(found, lines=(chosen, *others)[: spec.multipv])


# ---- the move to play ----


def chosen_move(spec: Spec, control: SearchControl, found: Analysis) -> PlayResult:
    """Return the move to play and the expected reply, or why there is none.

    With a clock or a time, a value at or below the resign value resigns.
    """
    if found.outcome is not None:
        return decided_play(found, spec.board.turn)
    if found.score.value <= -spec.resign_value and control.limits.optimum is not None:
        return PlayResult(None, None, found.score, "resign")
    answer = checked_move(spec.board, found.pv)
    return replace(answer, score=found.best.score, pv=found.pv, source=found.source)


def checked_move(board: Board, pv: Sequence[str]) -> PlayResult:
    """Return the first two moves of a line as far as they are legal; the first legal move if the line has none."""
    move, ponder = (*legal_part(board, pv[:2]), None, None)[:2]
    move = move or next(iter(board.legal_moves(include_all=True)), None)
    return PlayResult(move, ponder, end="" if move else "resign")
