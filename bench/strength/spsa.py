"""Tuning of search constants by games: simultaneous perturbation stochastic approximation (SPSA, J. Spall).

    python -m bench.strength.spsa LmrCut:350 LmrBase:250 --pairs 4000 --nodes 10000 --keep build/spsa

Each constant is named with its step: what one side plays above and the other below the current value at the end of
the run (more at its beginning). A pair of games from one opening, both colours, moves every constant towards the side
that won. With --processes N, N pairs are played at the same time around the same values. FOLDER/state.json holds the
state; the same command resumes from it. The result is a proposal: a duel against the current values decides
(bench.strength.duel).
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

from bench import OPENINGS
from bench.command import one_line
from bench.kept import same_conditions
from bench.strength.constants import constant_name, ranges
from bench.strength.duel import Duel, Setting
from bench.table import progress
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.player import read_openings
from usi_engine.usi.arguments import whole

ALPHA, GAMMA = 0.602, 0.101  # how fast steps and perturbations shrink (Spall's practical values)
STABILITY = 0.1  # of the run: keeps the first updates small


class Tuning:
    """The current values, and the updates by Spall's gain sequences."""

    def __init__(self, steps: dict[str, float], pairs: int, rate: float, seed: int) -> None:
        rows = ranges()
        self.steps, self.pairs, self.rate = steps, pairs, rate
        self.ranges = {name: rows[name][1:] for name in steps}
        self.values = {name: float(rows[name][0]) for name in steps}
        self.done = 0
        self._seed = seed

    def perturbed(self, pair: int) -> tuple[dict[str, float], dict[str, int], dict[str, int]]:
        """The perturbation of this pair, and both sides' constants, rounded up or down at random."""
        rng = random.Random(f"{self._seed} {pair}")
        width = (self.pairs / (pair + 1)) ** GAMMA
        shift = {name: step * width * rng.choice((-1, 1)) for name, step in self.steps.items()}
        raised, lowered = (
            {name: self._whole(name, value + sign * shift[name], rng) for name, value in self.values.items()}
            for sign in (1, -1)
        )
        return shift, raised, lowered

    def learn(self, shift: dict[str, float], balance: float) -> None:
        """Move the values after a pair; `balance`: points of the raised side less those of the other, -2 to 2."""
        stability = STABILITY * self.pairs
        rate = self.rate * ((stability + self.pairs) / (stability + self.done + 1)) ** ALPHA
        for name, moved in shift.items():
            width = ((self.pairs) / (self.done + 1)) ** GAMMA
            least, greatest = self.ranges[name]
            value = self.values[name] + rate * balance * moved / width**2
            self.values[name] = min(max(value, least), greatest)
        self.done += 1

    def load(self, file: Path) -> None:
        """Continue from the saved state, if there is one."""
        if file.exists():
            state = json.loads(file.read_text(encoding="utf-8"))
            self.values.update(state["values"])
            self.done = state["done"]

    def save(self, file: Path) -> None:
        """Write the number of pairs played and the values, whole or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(json.dumps({"done": self.done, "values": self.values}, indent=1) + "\n", encoding="utf-8")
        new.replace(file)

    def _whole(self, name: str, value: float, rng: random.Random) -> int:
        least, greatest = self.ranges[name]
        return int(min(max(math.floor(value + rng.random()), least), greatest))


_duel: Duel | None = None


def _begin(side: Setting, openings: list[str]) -> None:
    global _duel  # noqa: PLW0603  (a process of the pool has one duel for its life)
    _duel = Duel((side, side), openings)


def _balance(raised: dict[str, int], lowered: dict[str, int], opening: int) -> float:
    """Points of the raised side less those of the other in one pair."""
    if _duel is None:
        raise RuntimeError("_begin was not called in this process")
    _duel.set_constants(raised, lowered)
    return float(2 * sum(_duel.play_pair(opening)["points"]) - 2)


def run(arguments: argparse.Namespace) -> None:
    """Play and learn until the pairs are played."""
    tuning = Tuning(dict(arguments.constants), arguments.pairs, arguments.rate, arguments.seed)
    load_evaluation(arguments.weights)  # a fault ends the run here
    openings = read_openings(arguments.openings)
    file = Path(arguments.keep) / "state.json"
    same_conditions(file.parent, arguments, ("pairs", "processes", "keep"))
    tuning.load(file)
    side = Setting(arguments.nodes, arguments.weights, dict.fromkeys(tuning.steps, 0))
    context = multiprocessing.get_context("spawn")
    bar = progress(tuning.pairs, "pair", tuning.done)
    with ProcessPoolExecutor(arguments.processes, context, _begin, (side, openings)) as pool:
        running: dict[Future[float], dict[str, float]] = {}
        for pair in range(tuning.done, tuning.pairs):
            shift, raised, lowered = tuning.perturbed(pair)
            opening = random.Random(pair).randrange(len(openings))
            running[pool.submit(_balance, raised, lowered, opening)] = shift
            while len(running) == arguments.processes or (running and pair == tuning.pairs - 1):
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    tuning.learn(running.pop(future), future.result())
                    bar.update()
                tuning.save(file)
                bar.set_postfix_str(text_of(tuning.values), refresh=False)
    bar.close()
    print(text_of(tuning.values))


def text_of(values: dict[str, float]) -> str:
    """The values in one line."""
    return " ".join(f"{name}={value:.0f}" for name, value in values.items())


def constant(text: str) -> tuple[str, float]:
    """NAME:STEP."""
    name, _, step = text.partition(":")
    return constant_name(name), float(step)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("constants", nargs="+", type=constant, metavar="NAME:STEP")
    parser.add_argument("--pairs", type=whole(1), default=4000)
    parser.add_argument("--nodes", type=whole(1), default=10000)
    parser.add_argument("--rate", type=float, default=0.012, help="of the last pairs: share of a step a won pair moves")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="lines `startpos moves ...` or sfens")
    parser.add_argument("--weights", default=INTERNAL, help="a file, <internal> or material")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=whole(1), default=max((os.cpu_count() or 2) // 2, 1))
    parser.add_argument("--keep", required=True, help="folder of the state")
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("spsa"):
        run(parse())
