"""Tuning of an engine's options by games: simultaneous perturbation stochastic approximation (SPSA, J. Spall).

Each option has a step: at the end of the run one side plays this much above, the other this much below the current
value (more at the beginning). A pair of games from one opening, with both colours, moves every option towards the side
that won. Pairs at the same time are played around the same values.
"""

import argparse
import math
import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from usi_engine.language import _
from usi_engine.match.game import EngineConfig, Engines, Rules, Task, play_game
from usi_engine.match.runs import MatchError, Row, kept_rows, play_missing, shuffled_openings
from usi_engine.usi.options import Option
from usi_engine.usi.output import show
from usi_engine.workers import Work

ALPHA, GAMMA = 0.602, 0.101  # how fast steps and perturbations shrink (Spall's practical values)
STABILITY = 0.1  # share of the run that keeps the first updates small
RATE = 0.012  # share of a step that a point moves at the end

# Number of a pair, its perturbation, and the options of both sides.
Pair = tuple[int, Mapping[str, float], Mapping[str, str], Mapping[str, str]]


class Tuning:
    """Current values and their updates by Spall's gain sequences. `ranges`: start, least and greatest value."""

    def __init__(self, steps: Mapping[str, float], ranges: Mapping[str, Sequence[int]], pairs: int, seed: int) -> None:
        self.steps, self.pairs, self._ranges, self._seed = steps, pairs, ranges, seed
        self.values = {name: float(ranges[name][0]) for name in steps}
        self.learned = set[int]()  # numbers of pairs

    def perturbed(self, pair: int) -> Pair:
        """Return a pair of games: its perturbation and the values of both sides, rounded up or down at random."""
        rng = random.Random(f"{self._seed} {pair}")
        width = (self.pairs / (pair + 1)) ** GAMMA
        shift = {name: step * width * rng.choice((-1, 1)) for name, step in self.steps.items()}
        values = self.values.items()
        raised, lowered = (
            {
                name: str(round(self._within(name, math.floor(at + sign * shift[name] + rng.random()))))
                for name, at in values
            }
            for sign in (1, -1)
        )
        return pair, shift, raised, lowered

    def learn(self, pair: int, shift: Mapping[str, float], balance: float, **_others: Any) -> None:
        """Update the values after a pair; `balance`: points of the raised side minus those of the other, -2 to 2."""
        stability, done = STABILITY * self.pairs, len(self.learned)
        rate = RATE * ((stability + self.pairs) / (stability + done + 1)) ** ALPHA
        for name, moved in shift.items():
            width = (self.pairs / (done + 1)) ** GAMMA
            self.values[name] = self._within(name, self.values[name] + rate * balance * moved / width**2)
        self.learned.add(pair)

    def text(self) -> str:
        """Return the values as options."""
        return " ".join(f"{name}={value:.0f}" for name, value in self.values.items())

    def _within(self, name: str, value: float) -> float:
        _start, least, greatest = self._ranges[name]
        return min(max(value, least), greatest)


class Pairs(Engines):
    """Two copies of an engine that play pairs of games from these openings."""

    def __init__(self, config: EngineConfig, rules: Rules, openings: list[str]) -> None:
        super().__init__((config, config), rules)
        self._openings = openings

    def play(self, pair: Pair) -> Row:
        """Play a pair; return its number, perturbation, and the points of the raised side minus those of the other."""
        number, shift, raised, lowered = pair
        opening = self._openings[number % len(self._openings)]
        first = play_game(self, Task(2 * number, opening, (0, 1), (raised, lowered)))
        second = play_game(self, Task(2 * number + 1, opening, (1, 0), (lowered, raised)))
        balance = 2 * (first["points"] - second["points"])
        return {"pair": number, "shift": shift, "balance": balance, "faults": [first["fault"], second["fault"]]}


def read_steps(
    arguments: argparse.Namespace, config: EngineConfig, declared: Mapping[str, Option]
) -> dict[str, tuple[int, int, int]]:
    """Return the ranges of the options to tune, from their declarations. MatchError for one that is no number."""
    ranges = {}
    for name, step in arguments.tune:
        option = declared.get(name, Option(""))
        if option.kind != "spin" or option.least is None or option.most is None:
            raise MatchError(_("--tune {name}: {engine} declares no such number").format(name=name, engine=config.name))
        if not 0 < step <= option.most - option.least:
            text = _("--tune {name}: the step must be from 0 to {most}, not {step:g}")
            raise MatchError(text.format(name=name, most=option.most - option.least, step=step))
        ranges[name] = (int(config.options.get(name, option.default)), option.least, option.most)
    return ranges


def tune(arguments: argparse.Namespace, config: EngineConfig, declared: Mapping[str, Option], rules: Rules) -> None:
    """Play all pairs, update the values after each, and print them at the end, also after Ctrl-C. MatchError."""
    ranges = read_steps(arguments, config, declared)
    tuning = Tuning(dict(arguments.tune), ranges, (arguments.games + 1) // 2, arguments.seed)
    openings = shuffled_openings(arguments)
    kept = kept_rows(arguments, "pairs.jsonl")
    for row in kept.rows:
        tuning.learn(**row)
    work = Work(Pairs, (config, rules, openings), Pairs.play)
    tasks = (tuning.perturbed(pair) for pair in range(tuning.pairs) if pair not in tuning.learned)
    try:
        for row in play_missing(kept, work, tasks, arguments, total=tuning.pairs, note=lambda rows: tuning.text()):
            tuning.learn(**row)
            for fault in filter(None, row["faults"]):
                show(fault, file=sys.stderr)
    finally:
        show(tuning.text())
