"""The limits of the search of one position, and their command-line options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from usi_engine.evaluation.names import INTERNAL
from usi_engine.language import _
from usi_engine.usi.arguments import DAY, real, spin, whole

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
