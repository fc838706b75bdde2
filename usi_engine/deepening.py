"""Iterative deepening: depth by depth over the core, which searches each without the GIL, and the decision to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.control import Control
from usi_engine.core import Core
from usi_engine.patience import Patience
from usi_engine.report import Line, Reporter
from usi_engine.team import Team, Window
from usi_engine.vote import Vote, elect

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import RootLine


@dataclass(frozen=True)
class Goals:
    """What ends a search besides its clock; 0 = no node limit."""

    max_depth: int
    node_limit: int
    multipv: int


@dataclass(frozen=True)
class Outcome:
    """The lines that stand, best first; none where not even depth 1 was finished."""

    depth: int
    lines: tuple[Line, ...]


class Deepening:
    """One search of one position by a team whose root is set."""

    def __init__(self, core: Core, team: Team, control: Control, goals: Goals, reporter: Reporter) -> None:
        self._core = core
        self._team = team
        self._control = control
        self._goals = goals
        self._reporter = reporter
        self._patience = Patience()

    def run(self, board: Board, root_moves: int) -> Outcome:
        """Search until a limit, the clock or the stop says stop. `board` is the root; it is not changed."""
        wanted = min(self._goals.multipv, root_moves)
        self._team.start_helpers(self._goals.max_depth, self._goals.node_limit)
        try:
            outcome = self._deepen(board, wanted, root_moves == 1)
        finally:
            self._team.stop_helpers()
        return self._elected(board, outcome)

    def _elected(self, board: Board, outcome: Outcome) -> Outcome:
        """The line that the workers vote for, where one line is wanted and there is one to vote against."""
        votes = self._team.votes()
        if not votes or len(outcome.lines) != 1:
            return outcome
        own = outcome.lines[0]
        leader = Vote(outcome.depth, own.pv, own.value, own.seldepth)
        chosen = elect([leader, *votes], self._core.mate_bound)
        if chosen.move == own.move:
            return outcome
        return Outcome(chosen.depth, (Line(legal_part(board, list(chosen.pv)), chosen.value, chosen.seldepth),))

    def _deepen(self, board: Board, wanted: int, forced: bool) -> Outcome:
        outcome = Outcome(0, ())
        for depth in range(1, self._goals.max_depth + 1):
            if not self._search_depth(board, depth, wanted):
                return self._interrupted(board, depth, outcome)
            outcome = Outcome(depth, self._lines(board, wanted))
            self._reporter.lines(depth, outcome.lines)
            if self._enough(depth, outcome.lines[0], forced):
                break
        return outcome

    def _search_depth(self, board: Board, depth: int, wanted: int) -> bool:
        """Whether the depth was finished, for all lines wanted."""
        return all(self._search_line(board, depth, first) for first in range(wanted))

    def _search_line(self, board: Board, depth: int, first: int) -> bool:
        leader = self._team.leader
        last = leader.lines(first + 1)[first]
        # With several lines wanted, the search of the line before has put this one's value behind it.
        guess = last.value if last.value > -self._core.infinite else last.previous
        window = Window(self._core, depth, guess)
        node_limit = self._team.share(self._goals.node_limit)
        while True:
            value = leader.search(depth, window.alpha, window.beta, first, node_limit)
            if leader.stopped:
                return False
            bound = window.failed(value)
            if bound == "exact":
                return True
            root = leader.lines(first + 1)[first]
            if root.pv:
                pv = legal_part(board, root.pv)
                self._reporter.bound(depth, Line(pv, value, leader.seldepth, bound), first + 1)

    def _enough(self, depth: int, best: Line, forced: bool) -> bool:
        soft = self._control.limits.soft
        if soft is None:
            return False
        self._patience.depth_done(best.move, best.value)
        if forced or self._settled(depth, best.value):
            return self._control.decided(at_once=True)
        return self._patience.spent(self._control.elapsed, soft) and self._control.decided()

    def _settled(self, depth: int, value: int) -> bool:
        """Whether the value is a mate no longer than the depth: deeper searches cannot find a shorter one."""
        plies = self._core.in_plies(value)
        return plies is not None and abs(plies) <= depth

    def _interrupted(self, board: Board, depth: int, before: Outcome) -> Outcome:
        """What stands when `depth` was cut short: a better move it had already found, else the depth before."""
        if depth == 1:
            self._team.glance()
        root = self._team.leader.lines(1)[0]
        known = root.value > -self._core.infinite and root.bound != "upper" and bool(root.pv)
        if not known:
            return before
        best = self._line(board, root)
        if root.bound == "lower" and before.lines and best.move == before.lines[0].move:
            return before
        others = tuple(line for line in before.lines if line.move != best.move)
        return Outcome(depth, (best, *others[: max(len(before.lines) - 1, 0)]))

    def _lines(self, board: Board, wanted: int) -> tuple[Line, ...]:
        lines = [self._line(board, root) for root in self._team.leader.lines(wanted)]
        return tuple(sorted(lines, key=lambda line: -line.value))

    def _line(self, board: Board, root: RootLine) -> Line:
        return Line(legal_part(board, root.pv), root.value, root.seldepth)


def legal_part(board: Board, moves: list[str]) -> tuple[str, ...]:
    """The moves up to the first that is not legal."""
    copy = board.copy()
    for count, move in enumerate(moves):
        try:
            copy.push(move)
        except ValueError:
            return tuple(moves[:count])
    return tuple(moves)
