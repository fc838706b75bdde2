"""Games between two settings of one build, at fixed nodes: search constants, time constants or weights.

    python -m bench.strength.duel A --set LmrBase=500 --games 400 --nodes 20000 --keep build/lmr

A is a name for the record. Side A plays with --set, --weights and --nodes, side B with --set-b, --weights-b, --nodes-b,
or the defaults; with --book or --book-b a side plays from an opening book, which the option BookFile could name. With
--clock both have that time instead, counted in nodes (bench.strength.nodestime), and --set also takes constants
of usi_engine.search.timeman. Both play every opening with both colours; a pair of games is one score. It ends when the
sequential test accepts --elo0 or --elo1 (no test without --elo1), or after --games. The same command resumes it:
FOLDER/pairs.jsonl holds one line of JSON a pair. Node limits make it independent of other work on the machine, but
ignore the time that a rule costs: measure that by the speed (bench.speed.nps) or in a match at equal time
(bench.strength.match).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import OPENINGS
from bench.command import one_line
from bench.kept import kept_rows, same_conditions
from bench.strength.booked import BookedPlayer
from bench.strength.constants import known_name, ranges
from bench.strength.elo import estimate, likelihood_ratio, verdict
from bench.strength.nodestime import ClockPlayer, NodeTime, time_constants
from bench.table import progress
from core_ext.board import BLACK, Board
from core_ext.engine import Evaluation, set_tunable
from usi_engine.book.book_player import open_book
from usi_engine.evaluation.load import load_evaluation
from usi_engine.player import Player, PlayRules, ending_of, read_openings
from usi_engine.usi.arguments import whole

LONGEST = 320
# A game is adjudicated where both sides report a lead of this many centipawns for so many plies.
ADJUDICATION_SCORE = 2000
ADJUDICATION_PLIES = 6
TIME_CONSTANTS = time_constants()
# What may change where a duel goes on.
FREE = ("name", "games", "elo0", "elo1", "processes", "keep")
BLACK_POINTS = {"b": 1.0, "d": 0.5, "w": 0.0}

AnyPlayer = Player | ClockPlayer | BookedPlayer


@dataclass(frozen=True)
class Setting:
    """How one side plays."""

    nodes: int
    weights: str
    constants: dict[str, float] = field(default_factory=dict)
    clock: NodeTime | None = None
    book: str = ""

    def player(self, weights: Evaluation | None, rng: random.Random) -> AnyPlayer:
        """A player with this setting; `rng` draws the moves of its book."""
        player = ClockPlayer(weights, self.clock) if self.clock else Player(weights, PlayRules(nodes=self.nodes))
        return BookedPlayer(player, self.book, rng) if self.book else player


@dataclass
class Side:
    """A side of the duel: its player, and the constants it plays with."""

    constants: dict[str, float]
    player: AnyPlayer


def default_constants() -> dict[str, float]:
    """Every constant that --set may name, with its default."""
    search = {name: float(default) for name, (default, *_) in ranges().items()}
    return search | {name: value for name, (_, value) in TIME_CONSTANTS.items()}


def set_constant(name: str, value: float) -> None:
    """A constant of the search or of time management."""
    if name in TIME_CONSTANTS:
        setattr(TIME_CONSTANTS[name][0], name, value)
    else:
        set_tunable(name, int(value))


class Duel:
    """Both sides, in one process."""

    def __init__(self, settings: tuple[Setting, Setting], openings: list[str]) -> None:
        defaults = default_constants()
        named = {name for setting in settings for name in setting.constants}
        loaded: dict[str, Evaluation | None] = {}
        self._openings = openings
        self._random = random.Random()
        self._sides = []
        for setting in settings:
            if setting.weights not in loaded:
                loaded[setting.weights] = load_evaluation(setting.weights)
            constants = {name: setting.constants.get(name, defaults[name]) for name in named}
            self._sides.append(Side(constants, setting.player(loaded[setting.weights], self._random)))

    def set_constants(self, first: Mapping[str, float], second: Mapping[str, float]) -> None:
        """New values of the constants for the next games; both sides name the same ones."""
        for side, constants in zip(self._sides, (first, second), strict=True):
            side.constants = dict(constants)

    def play_pair(self, number: int) -> dict[str, Any]:
        """Points of side A with Black and with White from one opening."""
        opening = self._openings[number % len(self._openings)]
        begun = time.monotonic()
        self._random.seed(number)
        first, second = self._sides
        as_black, plies = self._play(opening, first, second)
        as_white, more = self._play(opening, second, first)
        points = [BLACK_POINTS[as_black], 1 - BLACK_POINTS[as_white]]
        return {"pair": number, "points": points, "plies": plies + more, "seconds": round(time.monotonic() - begun, 2)}

    def _play(self, opening: str, black: Side, white: Side) -> tuple[str, int]:
        """`b`, `w` or `d`, and the plies played."""
        board, agreed, last = Board(opening), 0, True
        for side in (black, white):
            side.player.new_game()
        for ply in range(LONGEST):
            ended = ending_of(board)
            if ended:
                return ended[0], ply
            side = black if board.turn == BLACK else white
            for name, value in side.constants.items():
                set_constant(name, value)
            move, value = side.player.think(board)
            black_ahead = (value > 0) == (board.turn == BLACK)
            agreed = agreed + 1 if abs(value) >= ADJUDICATION_SCORE and (agreed == 0 or black_ahead == last) else 0
            last = black_ahead
            if agreed >= ADJUDICATION_PLIES:
                return "b" if black_ahead else "w", ply
            board.push(move)
        return "d", LONGEST


_duel: Duel | None = None


def _begin(settings: tuple[Setting, Setting], openings: list[str]) -> None:
    global _duel  # noqa: PLW0603  (a process of the pool has one duel for its life)
    _duel = Duel(settings, openings)


def _pair(number: int) -> dict[str, Any]:
    if _duel is None:
        raise RuntimeError("_begin was not called in this process")
    return _duel.play_pair(number)


def pairs_of(
    settings: tuple[Setting, Setting], openings: list[str], numbers: list[int], processes: int
) -> Iterator[dict[str, Any]]:
    """Pairs as they end; their order does not matter."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, (settings, openings)) as pool:
        yield from pool.imap_unordered(_pair, numbers)


def run(arguments: argparse.Namespace) -> None:
    """Play until the test or the number of games ends it; prints the standing at the end."""
    settings = (
        Setting(arguments.nodes, arguments.weights, dict(arguments.set), arguments.clock, arguments.book),
        Setting(
            arguments.nodes_b or arguments.nodes,
            arguments.weights_b,
            dict(arguments.set_b),
            arguments.clock,
            arguments.book_b,
        ),
    )
    for setting in settings:
        load_evaluation(setting.weights)  # a fault ends the duel here; the pool would replace its workers for ever
        if setting.book:
            open_book(setting.book)
    openings = read_openings(arguments.openings)
    openings = random.Random(arguments.seed).sample(openings, len(openings))
    check_openings(arguments, len(openings))
    file = Path(arguments.keep) / "pairs.jsonl"
    same_conditions(file.parent, arguments, FREE)
    kept = kept_rows(file)
    played = {pair["pair"] for pair in kept}
    numbers = [number for number in range((arguments.games + 1) // 2) if number not in played]
    bar = progress(len(kept) + len(numbers), "pair", len(kept))
    with bar, open(file, "a", encoding="utf-8") as record:
        if not test_ended(kept, arguments):
            for pair in pairs_of(settings, openings, numbers, arguments.processes):
                record.write(json.dumps(pair) + "\n")
                record.flush()
                kept.append(pair)
                bar.set_postfix_str(standing(arguments, kept), refresh=False)
                bar.update()
                if test_ended(kept, arguments):
                    break
    print(standing(arguments, kept), flush=True)


def check_openings(arguments: argparse.Namespace, openings: int) -> None:
    """SystemExit where a pair would be played again: without a book the same one gives the same games."""
    if (arguments.games + 1) // 2 > openings and not (arguments.book or arguments.book_b):
        raise SystemExit(f"duel: {openings} openings make {2 * openings} games, not {arguments.games}")


def scores_of(pairs: list[dict[str, list[float]]]) -> list[float]:
    """The score of each pair, between 0 and 1."""
    return [sum(pair["points"]) / 2 for pair in pairs]


def test_ended(pairs: list[dict[str, list[float]]], arguments: argparse.Namespace) -> bool:
    """Whether the sequential test has a verdict."""
    if arguments.elo1 is None or len(pairs) < 20:
        return False
    return verdict(likelihood_ratio(scores_of(pairs), arguments.elo0, arguments.elo1)) != "open"


def standing(arguments: argparse.Namespace, pairs: list[dict[str, list[float]]]) -> str:
    """One line: games, result, score and Elo with their 95 % intervals (by pairs), the test."""
    points = [point for pair in pairs for point in pair["points"]]
    if not points:
        return f"{arguments.name}: no games"
    counts = f"+{points.count(1.0)} ={points.count(0.5)} -{points.count(0.0)} of {len(points)}"
    line = f"{arguments.name}: {counts}, {estimate(scores_of(pairs)).text()}"
    if arguments.elo1 is not None:
        ratio = likelihood_ratio(scores_of(pairs), arguments.elo0, arguments.elo1)
        line += f", test {ratio:+.2f} ({verdict(ratio)})"
    return line


def constant(text: str) -> tuple[str, float]:
    """NAME=VALUE."""
    name, _, value = text.partition("=")
    return known_name(name, default_constants()), float(value) if name in TIME_CONSTANTS else int(value)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--set", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--set-b", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--weights", default="<internal>", help="a file, <internal> or material")
    parser.add_argument("--weights-b", default="<internal>")
    parser.add_argument("--book", default="", help="a file, or <internal>; none without it")
    parser.add_argument("--book-b", default="")
    parser.add_argument("--games", type=whole(1), default=400)
    parser.add_argument("--nodes", type=whole(1), default=20000)
    parser.add_argument("--nodes-b", type=whole(), default=0, help="0: as side A")
    parser.add_argument("--clock", type=NodeTime.read, metavar="MAIN+INCREMENT[/NODES]", help="NODES: in a millisecond")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="lines `startpos moves ...` or sfens")
    parser.add_argument("--seed", type=int, default=1, help="of the openings' order")
    parser.add_argument("--elo0", type=float, default=0.0)
    parser.add_argument("--elo1", type=float)
    parser.add_argument("--processes", type=whole(1), default=max((os.cpu_count() or 2) // 2, 1))
    parser.add_argument("--keep", required=True, help="folder of the record")
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("duel"):
        run(parse())
