"""The engine with its constants as USI options, for matches between two settings and for tuning.

    usi_engine match "A=python -m bench.strength.tunable" B=usi_engine --option A:Tune_LmrBase=500 --nodes 10000 \\
        --games 800 --elo1 10

Tune_NAME is a constant of core_ext/search/tune.h, or, in thousandths, one of usi_engine.search.timeman. With
NodesTime N it counts N nodes as a millisecond of its clock, so that a match at `--time` does not depend on what else
the machine does; the clock begins with the main time of a game's first `go`.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.command import new_parser
from core_ext.engine import tunables
from usi_engine.__main__ import main
from usi_engine.game import loop
from usi_engine.game.session import Posted, Session
from usi_engine.search import timeman
from usi_engine.search.search_control import SearchControl
from usi_engine.usi.options import TUNING_PREFIX, Option, Options
from usi_engine.usi.protocol import Go, GoMate, SetOption, Word

NODES_TIME = "NodesTime"
MOST = 10**9
TIME_CONSTANTS = {
    name: value for name, value in vars(timeman).items() if name.isupper() and isinstance(value, int | float)
}


def declared() -> dict[str, Option]:
    """Return the options that only this program declares."""
    times = {name: (round(1000 * value), 0, MOST) for name, value in TIME_CONSTANTS.items()}
    constants = {name: (default, least, most) for name, _, default, least, most in tunables()} | times
    found = {TUNING_PREFIX + name: Option("spin", *numbers) for name, numbers in constants.items()}
    return found | {NODES_TIME: Option("spin", 0, 0, MOST)}


class NodeControl(SearchControl):
    """A control whose clock counts the nodes of the search; the search has a limit of nodes instead of a deadline."""

    def __init__(self, stop: Any, limits: timeman.TimeLimits, nodes: Callable[[], int], rate: int) -> None:
        self._nodes, self._rate = nodes, rate
        super().__init__(stop, limits)

    @property
    def elapsed(self) -> int:
        """Milliseconds of this move, counted in nodes."""
        return self._nodes() // self._rate

    def try_stop(self, without_minimum: bool = False) -> bool:
        """Return True: this clock has no minimum time."""
        return True

    def _end_by(self, milliseconds: int) -> None:
        pass


class TunableSession(Session):
    """A session with these options."""

    _rate = 0  # nodes a millisecond
    _left: int | None = None  # of the clock that counts nodes; None before the game's first search
    _last: SearchControl | None = None

    def _carry_out(self, command: Posted) -> None:
        if command is Word.NEW_GAME:
            self._left = self._last = None
        if isinstance(command, Go) and self._rate and command.times.given():
            command = self._on_node_clock(command)
        if not (isinstance(command, SetOption) and self._set(command.name, command.value)):
            super()._carry_out(command)

    def _set(self, name: str, text: str) -> bool:
        """Set an option that the engine does not have; return whether it is one."""
        constant = name.removeprefix(TUNING_PREFIX)
        if constant in TIME_CONSTANTS:
            setattr(timeman, constant, int(text) / 1000)
        elif name == NODES_TIME:
            self._rate = int(text)
        return constant in TIME_CONSTANTS or name == NODES_TIME

    def _on_node_clock(self, go: Go) -> Go:
        """Return a search with the time left by nodes, and their limit."""
        own = go.times.control(self._current().turn)
        self._left = own.main if self._left is None else self._left
        if self._last:
            self._left = max(self._left + own.increment - self._last.elapsed, 0)
        go = replace(go, times=replace(go.times, btime=self._left, wtime=self._left))
        return replace(go, nodes=(self._time_limits(go).maximum or 1) * self._rate)

    def _new_control(self, command: Go | GoMate, limits: timeman.TimeLimits, infinite: bool) -> SearchControl:
        if not (self._rate and isinstance(command, Go) and command.times.given()):
            return super()._new_control(command, limits, infinite)
        self._last = NodeControl(self._cleared_stop(), limits, lambda: self._resources.pool.nodes, self._rate)
        return self._last


def declarations(options: Options) -> list[str]:
    """Return the option lines that answer `usi`."""
    return own_declarations(options) + [f"option name {name} type {option}" for name, option in declared().items()]


own_declarations = Options.declarations


if __name__ == "__main__":
    new_parser(__doc__).parse_args()
    Options.declarations = declarations  # type: ignore[method-assign, assignment]
    vars(loop)["Session"] = TunableSession
    sys.exit(main())
