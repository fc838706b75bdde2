"""What the moves of two settings are worth to a deeper search: a gauge of the search that is cheaper than games.

    python -m bench.strength.move_loss --set LmrBase=500 --positions 3000 --keep build/lmr

Side A plays with --set and --nodes, side B with --set-b and --nodes-b, or the defaults, as in bench.strength.duel. Both
choose a move in the same positions of the engine's own games, each with an empty table. Where they differ, a search of
--deep nodes with the defaults values the positions after the two moves. Printed is A's chance of winning (0 to 1) less
B's, in 1/10,000 a move, with its standard error: only moves that differ count, so it takes far fewer nodes than a duel
as precise. It does not see what time a rule costs, what the deeper search misses, and what table and histories of
earlier moves are worth: a duel decides.

The same command resumes it: FOLDER/moves.jsonl holds a line of JSON a position.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from bench import OPENINGS
from bench.command import one_line
from bench.kept import kept_rows, same_conditions
from bench.strength.constants import constant_name, ranges
from bench.strength.duel import BLACK_POINTS
from bench.table import progress
from core_ext.board import BLACK, Board
from core_ext.engine import Evaluation, set_tunable
from usi_engine.analysis.judgement import winning_chance
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.learn.pool import Work
from usi_engine.player import Player, PlayRules, ending_of, read_openings
from usi_engine.usi.arguments import whole

GAME = PlayRules(nodes=1000, random_plies=2, opening_margin=100)  # of the games that the positions come from
UNDECIDED = 800  # centipawns: positions beyond are left out, as any move wins or loses there
UNIT = 10_000  # of a chance of winning

# What may change where a run goes on.
FREE = ("positions", "processes", "keep")

Constants = Mapping[str, int]


class Choices(TypedDict):
    """The moves chosen in one position, and the chance of winning after each where they differ."""

    position: int
    moves: list[str]
    scores: dict[str, float]


@dataclass(frozen=True)
class Choice:
    """How a move is chosen."""

    nodes: int
    constants: Constants


class Judge:
    """Positions, moves and their worth, in one process."""

    def __init__(self, weights: Evaluation | None, openings: Sequence[str], deep: int) -> None:
        self._openings = openings
        self._deep = deep
        self._games = Player(weights, GAME)
        self._searcher = Player(weights, PlayRules(nodes=deep))
        self._usual = {name: default for name, (default, *_) in ranges().items()}

    def position(self, number: int) -> Board | None:
        """A position at a random ply of a game of its own, history included; None where that one is decided."""
        self._set({})
        game = self._games.play(self._openings[number % len(self._openings)], number)
        moves, values = game.words[::2], game.words[1::2]
        ply = random.Random(number).randrange(len(moves)) if moves else 0
        if not moves or values[ply] == "-" or abs(int(values[ply])) > UNDECIDED:
            return None
        board = Board(game.start)
        for move in moves[:ply]:
            board.push(move)
        return board

    def choices(self, number: int, sides: Sequence[Choice]) -> Choices:
        """What each side plays in the position of this number; no moves where it is decided."""
        board = self.position(number)
        if board is None:
            return {"position": number, "moves": [], "scores": {}}
        moves = [self.choose(board, side) for side in sides]
        different = sorted(set(moves)) if len(set(moves)) > 1 else []
        return {"position": number, "moves": moves, "scores": {move: self.worth(board, move) for move in different}}

    def choose(self, board: Board, side: Choice) -> str:
        """What a side plays."""
        return self._think(board, side.nodes, side.constants)[0]

    def worth(self, board: Board, move: str) -> float:
        """The chance of winning (a draw: a half) that the move leaves to the side that plays it."""
        after = board.copy()
        after.push(move)
        ended = ending_of(after)
        if ended:
            return BLACK_POINTS[ended[0]] if board.turn == BLACK else 1 - BLACK_POINTS[ended[0]]
        return 1 - winning_chance(self._think(after, self._deep, {})[1])

    def _think(self, board: Board, nodes: int, constants: Constants) -> tuple[str, int]:
        """Move and value of a search with an empty table and these constants."""
        self._set(constants)
        self._searcher.new_game()
        move, value = self._searcher.think(board, nodes=nodes)
        self._set({})
        return move, value

    def _set(self, constants: Constants) -> None:
        """These constants; of the others the defaults."""
        for name, value in (self._usual | dict(constants)).items():
            set_tunable(name, value)


def new_judge(weights: str, openings: list[str], deep: int) -> Judge:
    """A judge with the weights of this name. WeightsError."""
    return Judge(load_evaluation(weights), openings, deep)


def judge_task(judge: Judge, task: tuple[int, list[Choice]]) -> Choices:
    """The choices in the position of this number."""
    return judge.choices(*task)


def collected(arguments: argparse.Namespace, sides: Callable[[int], list[Choice]]) -> list[Choices]:
    """The choices in every position, those that the folder holds and those that are added to it now."""
    load_evaluation(arguments.weights)  # a fault ends the run here
    openings = read_openings(arguments.openings)
    file = Path(arguments.keep) / "moves.jsonl"
    same_conditions(file.parent, arguments, FREE)
    kept: list[Choices] = kept_rows(file)
    done = {row["position"] for row in kept}
    numbers = range(arguments.first, arguments.first + arguments.positions)
    tasks = [(number, sides(number)) for number in numbers if number not in done]
    work = Work(new_judge, (arguments.weights, openings, arguments.deep), judge_task)
    with progress(arguments.positions, "position", len(done)) as bar, open(file, "a", encoding="utf-8") as record:
        for row in work.results(tasks, arguments.processes):
            record.write(json.dumps(row) + "\n")
            record.flush()
            kept.append(row)
            bar.update()
    return kept


def differences(rows: list[Choices]) -> list[float]:
    """The first side's chance of winning less the second's, in every position that was not decided."""
    return [
        row["scores"][row["moves"][0]] - row["scores"][row["moves"][1]] if row["scores"] else 0.0
        for row in rows
        if row["moves"]
    ]


def report(rows: list[Choices]) -> str:
    """One line: positions, moves that differ, mean and standard error."""
    found = differences(rows)
    if len(found) < 2:
        return "too few positions"
    error = statistics.stdev(found) / math.sqrt(len(found))
    differ = sum(bool(row["scores"]) for row in rows)
    mean = UNIT * statistics.fmean(found)
    return f"{differ} of {len(found)} moves differ, worth {mean:+.1f} +- {UNIT * error:.1f} of 1/{UNIT:,} a move"


def run(arguments: argparse.Namespace) -> None:
    """Choose, value, print."""
    sides = [
        Choice(arguments.nodes, dict(arguments.set)),
        Choice(arguments.nodes_b or arguments.nodes, dict(arguments.set_b)),
    ]
    print(report(collected(arguments, lambda _: sides)), flush=True)


def constant(text: str) -> tuple[str, int]:
    """NAME=VALUE of a search constant."""
    name, _, value = text.partition("=")
    return constant_name(name), int(value)


def shared_options(parser: argparse.ArgumentParser) -> None:
    """Those of bench.strength.screen, too."""
    parser.add_argument("--positions", type=whole(1), default=3000, help="decided ones, which are left out, included")
    parser.add_argument("--first", type=whole(), default=0, help="number of the first position")
    parser.add_argument("--nodes", type=whole(1), default=100_000, help="of the searches that choose")
    parser.add_argument("--deep", type=whole(1), default=400_000, help="nodes of the searches that value a move")
    parser.add_argument("--weights", default=INTERNAL, help="a file, <internal> or material")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="lines `startpos moves ...` or sfens")
    parser.add_argument("--processes", type=whole(1), default=max((os.cpu_count() or 2) // 2, 1))
    parser.add_argument("--keep", required=True, help="folder of the record")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--set-b", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--nodes-b", type=whole(), default=0, help="0: as side A")
    shared_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("move_loss"):
        run(parse())
