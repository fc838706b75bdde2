"""One go from its start to its answer: book, declaration, resignation, else the search; one bestmove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.book import choose
from usi_engine.control import Control
from usi_engine.core import Core, CoreError
from usi_engine.deepening import Deepening, Goals, Outcome, legal_part
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.protocol import Go
from usi_engine.report import Count, Line, Reporter, score_text
from usi_engine.resources import Resources

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Answer:
    """What stands behind `bestmove`: a move, `resign` or `win`, and the move expected next, which may be empty."""

    move: str
    ponder: str = ""

    def text(self) -> str:
        """The whole line."""
        return f"bestmove {self.move}" + (f" ponder {self.ponder}" if self.ponder else "")


RESIGN = Answer("resign")
WIN = Answer("win")
# The scout sets up about two thousand positions a millisecond: a hundredth of the time for the move.
SCOUT_NODES_PER_MS_AND_PERCENT = 20
SCOUT_NODES = 1_000_000
# What is left to do when the answer may be given; the lines to say, `bestmove` last.
Finish = Callable[[], list[str]]


def resign() -> list[str]:
    """No move is to be had, or none can be right."""
    return [RESIGN.text()]


class Thinking:
    """A go at work. `run` is the body of its thread and ends with one bestmove whatever happens."""

    def __init__(self, resources: Resources, options: Options, writer: Writer, control: Control) -> None:
        self._resources = resources
        self._options = options
        self._writer = writer
        self._control = control

    def run(self, go: Go, board: Board | None) -> None:
        """Think about `board` (None: a game we do not know, where no move can be right) and answer."""
        finish = resign if board is None else self._decide(board, go)
        self._control.wait_open()
        # First of all the answer, in one piece: on a busy machine each thread to wait for costs milliseconds.
        self._writer.lines(finish())
        self._control.answered()
        self._resources.rest()
        self._control.finish()

    def _decide(self, board: Board, go: Go) -> Finish:
        try:
            self._resources.load()
            return self._quick(board, go) or self._search(board, go)
        except (CoreError, MemoryError) as error:
            self._writer.info(str(error))
        except Exception as error:
            self._writer.info(f"error in search: {type(error).__name__}: {error}")
        return self._any_move(board)

    def _quick(self, board: Board, go: Go) -> Finish | None:
        """The answer where nothing needs to be searched; None elsewhere."""
        if not board.legal_moves(include_all=True):
            return resign
        rule = self._options.text("EnteringKingRule")
        declaration = board.declaration_move(rule)
        if declaration:
            return lambda: self._declare(declaration, rule)
        return None if go.searchmoves else self._from_book(board)

    def _declare(self, declaration: str, rule: str) -> list[str]:
        if declaration != WIN.move:
            count = Count(0, self._control.total, 0).text()
            line = f"info depth 1 seldepth 1 score mate 1 {count} multipv 1 pv {declaration}"
            return [line, Answer(declaration).text()]
        return [f"info string the game is won by declaration under {rule}", WIN.text()]

    def _from_book(self, board: Board) -> Finish | None:
        book = self._resources.book
        if book is None or board.ply > self._options.number("BookMoves"):
            return None
        moves = [move for move in book.probe(board.sfen()) if board.is_legal(move.move)]
        chosen = choose(moves, self._resources.chance)
        if chosen is None:
            return None
        pv = legal_part(board, [chosen.move, *([chosen.answer] if chosen.answer else [])])
        score = score_text(self._resources.core, chosen.value)
        depth = max(chosen.depth, 1)
        count = Count(0, self._control.total, 0).text()
        line = f"info depth {depth} seldepth {depth} {score} {count} multipv 1 pv {' '.join(pv)}"
        return lambda: [line, answer_of(pv).text()]

    def _search(self, board: Board, go: Go) -> Finish:
        core, team = self._resources.core, self._resources.team
        root_moves = self._set_root(board, go)
        reporter = Reporter(self._writer, core, self._interval(go), self._count)
        mate = self._scouted_mate(board, go)
        if mate:
            line = Line(tuple(mate), core.mate - len(mate), len(mate))
            return lambda: self._conclude(reporter, Outcome(len(mate), (line,)))
        outcome = Deepening(core, team, self._control, self._goals(core, go), reporter).run(board, root_moves)
        if not outcome.lines:
            return self._any_move(board)
        return lambda: self._conclude(reporter, outcome)

    def _scouted_mate(self, board: Board, go: Go) -> list[str]:
        """A mate by checks alone, looked for in a small share of a running clock's time; empty where none is found."""
        soft = self._control.limits.soft
        scout, percent = self._resources.scout, self._resources.core.tuned("MateScout")
        if scout is None or soft is None or not percent or go.searchmoves or self._options.number("MultiPV") > 1:
            return []
        nodes = min(SCOUT_NODES_PER_MS_AND_PERCENT * percent * soft, SCOUT_NODES)
        status, moves = scout.solve(board, nodes, "shortest")
        last_move = self._options.number("MaxMovesToDraw")
        too_late = last_move and board.ply + len(moves) - 1 > last_move
        return moves if status == "mate" and not too_late else []

    def _set_root(self, board: Board, go: Go) -> int:
        team = self._resources.team
        wanted = [move for move in go.searchmoves if board.is_legal(move)]
        if go.searchmoves and not wanted:
            self._writer.info(f"no move of searchmoves is legal: '{' '.join(go.searchmoves)}'")
        count = team.set_root(board, wanted or None, self._options)
        # searchmoves may name nothing but moves that the search leaves out as useless.
        return count or team.set_root(board, None, self._options)

    def _goals(self, core: Core, go: Go) -> Goals:
        depths = (go.depth, self._options.number("DepthLimit"), core.max_depth)
        nodes = [limit for limit in (go.nodes, self._options.number("NodesLimit")) if limit]
        return Goals(
            max_depth=min(depth for depth in depths if depth),
            node_limit=min(nodes, default=0),
            multipv=self._options.number("MultiPV"),
        )

    def _interval(self, go: Go) -> int:
        if self._options.flag("ConsiderationMode") or (go.open_ended() and not go.ponder):
            return 0
        return self._options.number("PvInterval")

    def _count(self) -> Count:
        team = self._resources.team
        return Count(team.nodes, self._control.total, team.table.hashfull())

    def _conclude(self, reporter: Reporter, outcome: Outcome) -> list[str]:
        best: Line = outcome.lines[0]
        lost = best.value <= -self._options.number("ResignValue")
        resigns = lost and self._control.limits.soft is not None
        answer = RESIGN if resigns else answer_of(best.pv)
        return [*reporter.last(outcome.depth, outcome.lines), answer.text()]

    def _any_move(self, board: Board) -> Finish:
        """Stopped before anything was known: a legal move, the first there is."""
        moves = board.legal_moves(include_all=True)
        return lambda: [(Answer(moves[0]) if moves else RESIGN).text()]


def answer_of(pv: tuple[str, ...]) -> Answer:
    """The first move of a line, and the answer expected to it."""
    return Answer(pv[0], pv[1] if len(pv) > 1 else "")
