"""One go from its start to its answer: declaration, book, mate search at the root, search; one bestmove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.core import legal_part, sentence_of
from usi_engine.game.request import SearchRequest
from usi_engine.game.resources import Resources
from usi_engine.game.skill import Skill, choose_line, limited
from usi_engine.search.iterative import Search
from usi_engine.search.report import NEVER, Line, Reporter, SearchResult, SearchStats, info_line, lost_line, won_line
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.output import Writer

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Answer:
    """An answer: a move, `resign` or `win`, and the expected reply (may be empty)."""

    move: str
    ponder: str = ""

    def text(self) -> str:
        """Return the whole line."""
        return f"bestmove {self.move}" + (f" ponder {self.ponder}" if self.ponder else "")


RESIGN = Answer("resign")
WIN = Answer("win")
# Mate search before a move: nodes per millisecond of the optimum time. The solver visits about 2,000, so this is 1 %.
MATE_NODES_PER_MS = 20
MAX_MATE_NODES = 1_000_000
# Returns the last lines, `bestmove` at the end. It is called when the answer may be given, perhaps long after the
# search has ended, and the lines show the time of the answer.
Finish = Callable[[], list[str]]


def resign() -> list[str]:
    """Return the answer if there is no legal move, or the last position was refused."""
    return [RESIGN.text()]


class Thinking:
    """One go. `run` is the body of its job and always ends with exactly one bestmove."""

    def __init__(self, resources: Resources, writer: Writer, control: SearchControl) -> None:
        self._resources = resources
        self._writer = writer
        self._control = control

    def run(self, request: SearchRequest | None) -> None:
        """Search and answer; resign if there is no request, because the last position was refused."""
        finish = resign if request is None else self._decide(request)
        self._control.wait_to_answer()
        # Waiting for the helper threads can take milliseconds on a loaded machine, so the answer comes first.
        self._writer.lines(self._lines_of(finish, request))
        self._control.answer_sent()
        self._resources.wait_for_helpers()

    def _decide(self, request: SearchRequest) -> Finish:
        try:
            self._resources.load_in_play()
            return self._without_search(request) or self._search(request)
        except Exception as error:
            self._writer.info(sentence_of(error, "error in search"))
        return lambda: [answer_of(request.board, ()).text()]

    def _lines_of(self, finish: Finish, request: SearchRequest | None) -> list[str]:
        """Return the last lines; if there is no memory for them, any legal move."""
        try:
            return finish()
        except Exception as error:
            self._writer.info(sentence_of(error, "error in search"))
            return resign() if request is None else [answer_of(request.board, ()).text()]

    # ---- answers without a search ----

    def _without_search(self, request: SearchRequest) -> Finish | None:
        """Return the answer if nothing needs to be searched."""
        board, rule = request.board, request.rules.declaration
        if not board.legal_moves(include_all=True):
            self._writer.line(lost_line(self._zero_stats()))
            return resign
        declaration = None if request.searchmoves else board.declaration_move(rule)
        return self._declare(declaration, rule) if declaration else self._from_book(request)

    def _declare(self, declaration: str, rule: str) -> Finish:
        """Print the reason at once, because an analysis does not answer before its stop."""
        core = self._resources.core
        if declaration == WIN.move:
            self._writer.line(won_line(core, self._zero_stats()))
            self._writer.info(f"the game is won by declaration under {rule}")
        else:
            self._writer.line(info_line(core, Line((declaration,), core.mate - 1), self._zero_stats()))
        return lambda: [Answer(declaration).text()]

    def _from_book(self, request: SearchRequest) -> Finish | None:
        core, book, board = self._resources.core, self._resources.book, request.board
        if book is None or request.book_rules is None:
            return None
        chosen = book.choose(board, request.book_rules, self._resources.random)
        if chosen is None:
            return None
        pv = legal_part(board, [chosen.move, *([chosen.reply] if chosen.reply else [])])
        value = max(min(chosen.value, core.max_evaluation), -core.max_evaluation)
        line = Line(pv, value, max(min(chosen.depth, core.max_depth), 1))
        text = info_line(core, line, self._zero_stats())
        return lambda: [text, Answer(*pv).text()]

    # ---- the search ----

    def _search(self, request: SearchRequest) -> Finish:
        if request.skill is not None:
            return self._search_at_level(request, request.skill)
        core, pool = self._resources.core, self._resources.pool
        root_moves = self._set_root(pool, request)
        reporter = self._reporter(pool, request.pv_interval)
        mate = self._mate_at_root(request)
        if mate:
            line = Line(tuple(mate), core.mate - len(mate), len(mate), len(mate))
            result = SearchResult(len(mate), (line,))
        else:
            search = Search(core, pool, self._control, request.limits, reporter)
            result = search.run(request.board, root_moves)
        return lambda: self._conclude(request, reporter, result, result.best.value)

    def _search_at_level(self, request: SearchRequest, skill: Skill) -> Finish:
        """Search as a weaker player. It prints only the line that it takes for the best, at the end."""
        core, pool, board = self._resources.core, self._resources.skill_pool, request.board
        pool.new_game()
        root_moves = self._set_root(pool, request)
        reporter = self._reporter(pool, NEVER)
        limits = limited(request.limits, skill)
        result = Search(core, pool, self._control, limits, reporter).run(board, root_moves)
        chosen = choose_line(core, board, result.lines, skill, self._resources.game_seed)
        others = [line for line in result.lines if line is not chosen]
        shown = SearchResult(result.depth, (chosen, *others)[: request.limits.multipv])
        return lambda: self._conclude(request, reporter, shown, result.best.value)

    def _set_root(self, pool: ThreadPool, request: SearchRequest) -> int:
        """Prepare the pool; return the number of root moves."""
        board, named = request.board, request.searchmoves
        moves = [move for move in dict.fromkeys(named) if board.is_legal(move)]
        if named and not moves:
            self._writer.info(f"no move of searchmoves is legal: '{' '.join(named)}'")
        elif refused := set(named).difference(moves):
            self._writer.info(f"illegal moves in searchmoves, ignored: '{' '.join(sorted(refused))}'")
        count = pool.set_root(board, moves or None, request.rules)
        # searchmoves may name only non-promotions, which are not searched without GenerateAllLegalMoves.
        return count or pool.set_root(board, None, request.rules)

    def _mate_at_root(self, request: SearchRequest) -> list[str]:
        """Spend a small share of the move's time on a mate by checks alone; empty if none is found."""
        solver, optimum = self._resources.root_solver, self._control.limits.optimum
        if solver is None or optimum is None or not request.mate_first:
            return []
        nodes = min(MATE_NODES_PER_MS * optimum, MAX_MATE_NODES)
        _, moves = solver.solve(request.board, nodes, "shortest") if nodes else ("", [])
        return moves if mates(request, moves) else []

    def _reporter(self, pool: ThreadPool, interval: int) -> Reporter:
        def stats() -> SearchStats:
            return SearchStats(pool.nodes, self._control.total, pool.table.hashfull())

        return Reporter(self._writer, self._resources.core, interval, stats)

    def _zero_stats(self) -> SearchStats:
        return SearchStats(0, self._control.total, 0)

    def _conclude(self, request: SearchRequest, reporter: Reporter, result: SearchResult, value: int) -> list[str]:
        """Return the last lines. `value` decides about resigning: it is the best move's, which a level may miss."""
        resigns = value <= -request.resign_value and self._control.limits.optimum is not None
        answer = RESIGN if resigns else answer_of(request.board, result.best.pv)
        return [*reporter.final(result), answer.text()]


def answer_of(board: Board, pv: Sequence[str]) -> Answer:
    """Check and return move and ponder move of a line; the first legal move if the line has none, else resign."""
    moves = legal_part(board, pv[:2]) or board.legal_moves(include_all=True)[:1]
    return Answer(*moves) if moves else RESIGN


def mates(request: SearchRequest, moves: Sequence[str]) -> bool:
    """Return whether the moves mate before a rule ends the game; the solver knows neither rules nor earlier moves."""
    board, rules = request.board.copy(), request.rules
    for move in moves:
        if board.outcome(rules.declaration, rules.max_moves):
            return False
        board.push(move)
    return board.is_checkmate()
