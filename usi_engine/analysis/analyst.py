"""Search of single positions, each from a cleared state, so their order does not matter. Its limits as options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from usi_engine.api.engine import Engine
from usi_engine.evaluation.names import INTERNAL
from usi_engine.language import _
from usi_engine.search.results import Analysis, Watch
from usi_engine.usi.arguments import DAY, real, spin, whole

if TYPE_CHECKING:
    from core_ext.board import Board

MOST_NODES = 1 << 48


@dataclass(frozen=True)
class Limits:
    """The limits for one position. `nodes` and `seconds`: 0 is no limit; one of them must be set. `multipv`: lines."""

    nodes: int = 300_000
    seconds: float = 0.0
    threads: int = 1
    megabytes: int = 64
    evaluation: str = INTERNAL
    multipv: int = 1


def add_limits(parser: argparse.ArgumentParser, nodes: int) -> None:
    """Add the options; `nodes` is the default limit."""
    limit = parser.add_mutually_exclusive_group()
    per_position = _("nodes for each position (default {nodes})").format(nodes=nodes)
    limit.add_argument("--nodes", type=whole(1, MOST_NODES), metavar="N", help=per_position)
    limit.add_argument("--seconds", type=real(0.001, DAY), metavar="S", help=_("seconds for each position instead"))
    parser.add_argument("--threads", type=spin("Threads"), default=1, metavar="N", help=_("search threads (1)"))
    size = _("size of the transposition table in MB (64)")
    parser.add_argument("--hash", type=spin("USI_Hash"), default=64, metavar="MB", help=size)
    weights = _("weights or network, as the option EvalFile")
    parser.add_argument("--eval", default=INTERNAL, metavar="FILE", help=weights)
    parser.set_defaults(default_nodes=nodes)


def limits_of(args: argparse.Namespace) -> Limits:
    """Return the limits that the command line names."""
    nodes = 0 if args.seconds else args.nodes or args.default_nodes
    return Limits(nodes, args.seconds or 0.0, args.threads, args.hash, args.eval)


def with_effort(limits: Limits, effort: int, multipv: int) -> Limits:
    """Return the limits times `effort`, for this many lines."""
    nodes = min(limits.nodes * effort, MOST_NODES)
    return replace(limits, nodes=nodes, seconds=limits.seconds * effort, multipv=multipv)


def in_words(limits: Limits) -> str:
    """Return the limit of a position as text."""
    if limits.nodes:
        return _("{nodes} nodes").format(nodes=limits.nodes)
    return _("{seconds:g} s").format(seconds=limits.seconds)


class Analyst:
    """An engine that evaluates positions. WeightsError or MemoryError if the evaluation cannot be loaded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine = Engine(limits.evaluation, threads=limits.threads, megabytes=limits.megabytes)

    def evaluate(
        self, board: Board, lines: int = 0, moves: Sequence[str] = (), *, effort: int = 1, watch: Watch | None = None
    ) -> Analysis:
        """Return the value and best lines of a position. KeyboardInterrupt stops the search.

        `lines`: their number, 0 for that of the limits; `moves`: the root moves to search, empty for all; `effort`: the
        factor of the limits. `watch` is called on another thread.
        """
        limits = with_effort(self._limits, effort, lines or self._limits.multipv)
        self._engine.new_game()
        return self._engine.analyse(
            board,
            nodes=limits.nodes or None,
            time=limits.seconds or None,
            multipv=limits.multipv,
            moves=moves or None,
            watch=watch,
        )
