"""Tune search constants by games with simultaneous perturbation stochastic approximation (SPSA, J. Spall).

    python -m bench.strength.spsa LmrCut:350 LmrBase:250 --pairs 4000 --nodes 10000 --keep runs/spsa

Give each constant with its step: at the end of the run one side plays this much above, the other this much below the
current value (more at the beginning). A pair of games from one opening, with both colours, moves every constant towards
the side that won. With --processes N, N pairs run at the same time around the same values. The same command resumes:
FOLDER/pairs.jsonl has a line of JSON a pair. Confirm the result with a duel against the old values
(bench.strength.duel).
"""

import argparse
import math
import random
from collections.abc import Iterator

from bench.command import new_parser, one_line
from bench.strength.duel import Duel, Setting, duel_work, known_name, ranges
from bench.strength.run import Row, add_run_options, kept_rows, play_missing
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.learn.player import read_openings
from usi_engine.usi.arguments import real, whole

ALPHA, GAMMA = 0.602, 0.101  # how fast steps and perturbations shrink (Spall's practical values)
STABILITY = 0.1  # share of the run that keeps the first updates small

# Number and opening of a pair, perturbation, constants of both sides.
Pair = tuple[int, int, dict[str, float], dict[str, int], dict[str, int]]


class Tuning:
    """Current values and their updates by Spall's gain sequences."""

    def __init__(self, steps: dict[str, float], pairs: int, rate: float, seed: int) -> None:
        rows = ranges()
        self.steps, self.pairs, self.rate = steps, pairs, rate
        self.ranges = {name: rows[name][1:] for name in steps}
        self.values = {name: float(rows[name][0]) for name in steps}
        self.learned = set[int]()  # numbers of pairs
        self._seed = seed

    def perturbed(self, pair: int) -> tuple[dict[str, float], dict[str, int], dict[str, int]]:
        """Return the perturbation of a pair and the constants of both sides, rounded up or down at random."""
        rng = random.Random(f"{self._seed} {pair}")
        width = (self.pairs / (pair + 1)) ** GAMMA
        shift = {name: step * width * rng.choice((-1, 1)) for name, step in self.steps.items()}
        values = self.values.items()
        raised, lowered = (
            {name: int(self._within(name, math.floor(at + sign * shift[name] + rng.random()))) for name, at in values}
            for sign in (1, -1)
        )
        return shift, raised, lowered

    @property
    def done(self) -> int:
        """The number of pairs that were learned."""
        return len(self.learned)

    def learn(self, pair: int, shift: dict[str, float], balance: float) -> None:
        """Update the values after a pair; `balance`: points of the raised side minus those of the other, -2 to 2."""
        stability = STABILITY * self.pairs
        rate = self.rate * ((stability + self.pairs) / (stability + self.done + 1)) ** ALPHA
        for name, moved in shift.items():
            width = (self.pairs / (self.done + 1)) ** GAMMA
            self.values[name] = self._within(name, self.values[name] + rate * balance * moved / width**2)
        self.learned.add(pair)

    def _within(self, name: str, value: float) -> float:
        least, greatest = self.ranges[name]
        return min(max(value, least), greatest)


def run(arguments: argparse.Namespace) -> None:
    """Play all pairs and update the values after each."""
    tuning = Tuning(dict(arguments.constants), arguments.pairs, arguments.rate, arguments.seed)
    load_evaluation(arguments.weights)  # if the file is missing, nothing is begun
    openings = read_openings(arguments.openings)
    kept = kept_rows(arguments, "pairs.jsonl", ("pairs",))
    for row in kept.rows:
        tuning.learn(**row)
    side = Setting(arguments.nodes, arguments.weights, dict.fromkeys(tuning.steps, 0))
    work, tasks = duel_work((side, side), openings, play_pair), make_tasks(tuning, len(openings))

    def show(_rows: list[Row]) -> str:
        return format_values(tuning.values)

    for row in play_missing(kept, work, tasks, arguments, total=tuning.pairs, standing=show):
        tuning.learn(**row)
    print(format_values(tuning.values))


def make_tasks(tuning: Tuning, openings: int) -> Iterator[Pair]:
    """Yield the remaining pairs, each around the values of the moment when a process is free."""
    for pair in [number for number in range(tuning.pairs) if number not in tuning.learned]:
        yield pair, random.Random(pair).randrange(openings), *tuning.perturbed(pair)


def play_pair(duel: Duel, pair: Pair) -> Row:
    """Play a pair; return its number, perturbation, and the points of the raised side minus those of the other."""
    number, opening, shift, raised, lowered = pair
    duel.set_constants(raised, lowered)
    return {"pair": number, "shift": shift, "balance": 2 * sum(duel.play_pair(opening)["points"]) - 2}


def format_values(values: dict[str, float]) -> str:
    return " ".join(f"{name}={value:.0f}" for name, value in values.items())


def constant(text: str) -> tuple[str, float]:
    name, _, step = text.partition(":")
    _, least, greatest = ranges()[known_name(name, ranges())]
    return name, real(0, greatest - least)(step)


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("constants", nargs="+", type=constant, metavar="NAME:STEP")
    parser.add_argument("--pairs", type=whole(1), default=4000)
    parser.add_argument("--nodes", type=whole(1), default=10000)
    parser.add_argument("--rate", type=real(0, 1), default=0.012, help="share of a step that a point moves at the end")
    parser.add_argument("--weights", default=INTERNAL, help="a file, <internal> or material")
    add_run_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("spsa"):
        run(parse())
