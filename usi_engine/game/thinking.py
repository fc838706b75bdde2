"""One go from its start to its answer: declaration, book, a mate search at the root, else the search; one bestmove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from usi_engine.book.choice import rules_of
from usi_engine.core import Core, CoreError, text_of
from usi_engine.game.resources import Resources
from usi_engine.game.skill import Skill, choose_line, limited, skill_of
from usi_engine.search.iterative import Search, SearchLimits
from usi_engine.search.report import (
    NEVER,
    Line,
    Reporter,
    SearchResult,
    SearchStats,
    info_line,
    legal_part,
    lost_line,
    won_line,
)
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.options import Options
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Go

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Answer:
    """What follows `bestmove`: a move, `resign` or `win`, and the expected reply, which may be empty."""

    move: str
    ponder: str = ""

    def text(self) -> str:
        """The whole line."""
        return f"bestmove {self.move}" + (f" ponder {self.ponder}" if self.ponder else "")


RESIGN = Answer("resign")
WIN = Answer("win")
# Mate search before a move: nodes per millisecond of the optimum time. The solver visits about 2,000, so this is 1 %.
MATE_NODES_PER_MS = 20
MAX_MATE_NODES = 1_000_000
# Called when the answer may be given; returns the lines to print, `bestmove` last.
Finish = Callable[[], list[str]]


def resign() -> list[str]:
    """The answer where there is no legal move, or the last position was refused."""
    return [RESIGN.text()]


class Thinking:
    """Carries out a go. `run` is the body of its thread and always ends with exactly one bestmove."""

    def __init__(self, resources: Resources, options: Options, writer: Writer, control: SearchControl) -> None:
        self._resources = resources
        self._options = options
        self._writer = writer
        self._control = control

    def run(self, go: Go, board: Board | None) -> None:
        """Search `board` (None where the last position was refused) and answer."""
        finish = resign if board is None else self._decide(board, go)
        self._control.wait_to_answer()
        # Waiting for the helpers can take milliseconds on a loaded machine, so the answer comes first.
        self._writer.lines(finish())
        self._control.answer_sent()
        self._resources.wait_for_helpers()

    def _decide(self, board: Board, go: Go) -> Finish:
        try:
            self._resources.load_in_play()
            skill = None if go.open_ended() and not go.ponder else skill_of(self._options.number("SkillLevel"))
            searched = self._search if skill is None else partial(self._search_at_level, skill=skill)
            return self._without_search(board, go) or searched(board, go)
        except (CoreError, MemoryError) as error:
            self._writer.info(text_of(error))
        except Exception as error:
            self._writer.info(f"error in search: {type(error).__name__}: {error}")
        return self._any_move(board)

    def _without_search(self, board: Board, go: Go) -> Finish | None:
        """The answer where nothing needs to be searched; None elsewhere."""
        if not board.legal_moves(include_all=True):
            self._writer.line(lost_line(self._no_nodes()))
            return resign
        rule = self._options.text("EnteringKingRule")
        declaration = None if go.searchmoves else board.declaration_move(rule)
        if declaration:
            return self._declare(declaration, rule)
        return self._from_book(board) if self._in_a_game(go) else None

    def _declare(self, declaration: str, rule: str) -> Finish:
        """The reason is printed at once: an analysis does not answer before its stop."""
        core = self._resources.core
        if declaration == WIN.move:
            self._writer.line(won_line(core, self._no_nodes()))
            self._writer.info(f"the game is won by declaration under {rule}")
            return lambda: [WIN.text()]
        self._writer.line(info_line(core, Line((declaration,), core.mate - 1), self._no_nodes()))
        return lambda: [Answer(declaration).text()]

    def _in_a_game(self, go: Go) -> bool:
        """Whether the book may answer: a go with clocks. Other limits, and several lines, ask for a search."""
        other = go.infinite or go.searchmoves or (go.movetime, go.depth, go.nodes) != (None, None, None)
        analysis = self._options.flag("ConsiderationMode") or self._options.number("MultiPV") > 1
        return go.times.given() and not other and not analysis

    def _from_book(self, board: Board) -> Finish | None:
        book, resources = self._resources.book, self._resources
        rules = rules_of(self._options, board.turn == resources.core.black)
        chosen = book.choose(board, rules, resources.random) if book else None
        if chosen is None:
            return None
        pv = legal_part(board, [chosen.move, *([chosen.reply] if chosen.reply else [])])
        core = resources.core
        value = max(min(chosen.value, core.max_evaluation), -core.max_evaluation)
        line = Line(pv, value, max(min(chosen.depth, core.max_depth), 1))
        text = info_line(core, line, self._no_nodes())
        return lambda: [text, answer_of(line.pv).text()]

    def _search(self, board: Board, go: Go) -> Finish:
        core, pool = self._resources.core, self._resources.pool
        root_moves = self._set_root(pool, board, go)
        reporter = Reporter(self._writer, core, self._interval(go), lambda: self._stats(pool))
        mate = self._mate_at_root(board, go)
        if mate:
            line = Line(tuple(mate), core.mate - len(mate), len(mate), len(mate))
            return lambda: self._conclude(reporter, SearchResult(len(mate), (line,)), line.value)
        result = Search(core, pool, self._control, self._limits(core, go), reporter).run(board, root_moves)
        return lambda: self._conclude(reporter, result, result.best.value)

    def _search_at_level(self, board: Board, go: Go, skill: Skill) -> Finish:
        """The search of a weaker player, which prints the line it takes for the best, and no other before its end."""
        core, pool = self._resources.core, self._resources.skill_pool
        pool.new_game()
        root_moves = self._set_root(pool, board, go)
        reporter = Reporter(self._writer, core, NEVER, lambda: self._stats(pool))
        limits = limited(self._limits(core, go), skill)
        result = Search(core, pool, self._control, limits, reporter).run(board, root_moves)
        chosen = choose_line(core, board, result.lines, skill, self._resources.game_seed)
        others = [line for line in result.lines if line is not chosen]
        shown = SearchResult(result.depth, (chosen, *others)[: self._options.number("MultiPV")])
        return lambda: self._conclude(reporter, shown, result.best.value)

    def _mate_at_root(self, board: Board, go: Go) -> list[str]:
        """A mate by checks alone, searched for in a small share of the move's time; empty where none is found."""
        solver, nodes = self._resources.root_solver, self._mate_nodes(go)
        if solver is None or not nodes:
            return []
        _, moves = solver.solve(board, nodes, "shortest")
        rule, max_moves = self._options.text("EnteringKingRule"), self._options.number("MaxMovesToDraw")
        return moves if mates(board, moves, rule, max_moves) else []

    def _mate_nodes(self, go: Go) -> int:
        """Nodes of the mate search at the root; 0 for none. Under TryRule a king in check may win by its move."""
        optimum = self._control.limits.optimum
        other = go.searchmoves or self._options.number("MultiPV") > 1
        if optimum is None or other or self._options.text("EnteringKingRule") == "TryRule":
            return 0
        return min(MATE_NODES_PER_MS * optimum, MAX_MATE_NODES)

    def _set_root(self, pool: ThreadPool, board: Board, go: Go) -> int:
        moves = [move for move in dict.fromkeys(go.searchmoves) if board.is_legal(move)]
        if go.searchmoves and not moves:
            self._writer.info(f"no move of searchmoves is legal: '{' '.join(go.searchmoves)}'")
        elif refused := set(go.searchmoves).difference(moves):
            self._writer.info(f"not legal, and left out of searchmoves: '{' '.join(sorted(refused))}'")
        count = pool.set_root(board, moves or None, self._options)
        # searchmoves may name nothing but non-promotions that GenerateAllLegalMoves leaves out.
        return count or pool.set_root(board, None, self._options)

    def _limits(self, core: Core, go: Go) -> SearchLimits:
        depths = (go.depth, self._options.number("DepthLimit"), core.max_depth)
        nodes = [limit for limit in (go.nodes, self._options.number("NodesLimit")) if limit]
        return SearchLimits(
            max_depth=min(depth for depth in depths if depth),
            node_limit=min(nodes, default=0),
            multipv=self._options.number("MultiPV"),
        )

    def _interval(self, go: Go) -> int:
        """Least milliseconds between printed iterations; 0 in analysis."""
        if self._options.flag("ConsiderationMode") or (go.open_ended() and not go.ponder):
            return 0
        return self._options.number("PvInterval")

    def _stats(self, pool: ThreadPool) -> SearchStats:
        return SearchStats(pool.nodes, self._control.total, pool.table.hashfull())

    def _no_nodes(self) -> SearchStats:
        """Of an answer without a search."""
        return SearchStats(0, self._control.total, 0)

    def _conclude(self, reporter: Reporter, result: SearchResult, value: int) -> list[str]:
        """The lines and the answer; `value`, which resigns, is that of the best move, which a weak player may miss."""
        lost = value <= -self._options.number("ResignValue")
        resigns = lost and self._control.limits.optimum is not None
        answer = RESIGN if resigns else answer_of(result.best.pv)
        return [*reporter.final(result), answer.text()]

    def _any_move(self, board: Board) -> Finish:
        """The first legal move, after an error."""
        moves = board.legal_moves(include_all=True)
        return lambda: [(Answer(moves[0]) if moves else RESIGN).text()]


def answer_of(pv: tuple[str, ...]) -> Answer:
    """The first move of a line, and the expected reply."""
    return Answer(pv[0], pv[1] if len(pv) > 1 else "")


def mates(board: Board, moves: list[str], rule: str, max_moves: int) -> bool:
    """Whether these moves end in mate before a rule ends the game: the solver ignores the game before and its rules."""
    copy = board.copy()
    for move in moves:
        if copy.outcome(rule, max_moves):
            return False
        copy.push(move)
    return copy.is_checkmate()
