"""Which search constants to move, and which way: a screening of all of them at once by the moves they choose.

    python -m bench.strength.screen --positions 2500 --keep build/screen
    python -m bench.strength.screen LmrCut LmrBase NullMargin --rounds 2 --keep build/three

In every position (those of bench.strength.move_loss) moves are chosen with every constant a step above or below its
value, by lot: --rounds settings, and after each its mirror image, so that what is curved cancels out. A deeper search
values the moves, and a linear fit of their chances of winning on the signs gives the worth of a step of each constant
and its error: all constants together take no more positions than one would (a random balanced design, as in G. Box,
J. S. Hunter and W. G. Hunter, Statistics for Experimenters). What it proposes is for a duel to decide.

The same command resumes it: FOLDER/moves.jsonl holds a line of JSON a position.
"""

from __future__ import annotations

import argparse
import random

import numpy as np
from numpy.typing import NDArray

from bench.command import one_line
from bench.strength.constants import constant_name, ranges
from bench.strength.move_loss import UNIT, Choice, Choices, collected, shared_options
from bench.table import print_table
from usi_engine.usi.arguments import whole

SMALLEST = 1e-9  # an error of 0, where all moves agree, does not divide
FIXED = {"MateInOne", "MateScout", "NullDivisor", "LmrMinDepth"}  # a step of one is no small one


class Screen:
    """The constants under test, their steps, and the settings of each position."""

    def __init__(self, names: list[str], percent: int, rounds: int, nodes: int) -> None:
        rows = ranges()
        self.names = names or [name for name in rows if name not in FIXED]
        self.usual = {name: rows[name][0] for name in self.names}
        self.steps = {name: max(1, round(percent * abs(self.usual[name]) / 100)) for name in self.names}
        self._ranges = {name: rows[name][1:] for name in self.names}
        self._rounds, self._nodes = rounds, nodes

    def signs(self, number: int) -> NDArray[np.float64]:
        """(settings, constants): 1 for a step above, -1 for one below; each second row mirrors the one before."""
        rng = random.Random(number)
        drawn = np.array([[rng.choice((-1.0, 1.0)) for _ in self.names] for _ in range(self._rounds)])
        return np.stack([drawn, -drawn], axis=1).reshape(-1, len(self.names))

    def settings(self, number: int) -> list[Choice]:
        """How the moves in the position of this number are chosen."""
        return [Choice(self._nodes, self._constants(row)) for row in self.signs(number)]

    def stepped(self, name: str, steps: int) -> int:
        """The constant's value so many steps from its usual one, within its range."""
        least, greatest = self._ranges[name]
        return min(max(self.usual[name] + steps * self.steps[name], least), greatest)

    def _constants(self, signs: NDArray[np.float64]) -> dict[str, int]:
        return {name: self.stepped(name, int(sign)) for name, sign in zip(self.names, signs, strict=True)}

    def worth(self, rows: list[Choices]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Worth of a step up of every constant in chance of winning a move, and its standard error. SystemExit."""
        signs, scores = [], []
        for row in rows:
            if row["moves"]:
                found = np.array([row["scores"].get(move, 0.0) for move in row["moves"]])
                scores.append(found - found.mean())
                signs.append(self.signs(row["position"]))
        freedom = sum(len(found) for found in scores) - len(scores) - len(self.names)
        if freedom < 1:
            raise SystemExit(f"screen: {len(scores)} positions are too few for {len(self.names)} constants")
        return linear_fit(np.concatenate(signs), np.concatenate(scores), freedom)


def linear_fit(
    inputs: NDArray[np.float64], outputs: NDArray[np.float64], freedom: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients of least squares and their standard errors; `freedom`: degrees of it that are left."""
    inverse = np.linalg.pinv(inputs.T @ inputs)
    found = inverse @ inputs.T @ outputs
    variance = ((outputs - inputs @ found) ** 2).sum() / freedom
    return found, np.sqrt(variance * np.diag(inverse))


def proposal(screen: Screen, worth: NDArray[np.float64], error: NDArray[np.float64]) -> dict[str, int]:
    """A step towards the better side of every constant whose worth is more than its error."""
    return {
        name: screen.stepped(name, 1 if value > 0 else -1)
        for name, value, size in zip(screen.names, worth, error, strict=True)
        if abs(value) > size
    }


def run(arguments: argparse.Namespace) -> None:
    """Choose, value, fit, print."""
    screen = Screen(arguments.constants, arguments.step, arguments.rounds, arguments.nodes)
    worth, error = screen.worth(collected(arguments, screen.settings))
    rows = sorted(zip(screen.names, worth, error, strict=True), key=lambda row: -abs(row[1]) / max(row[2], SMALLEST))
    print_table(
        ("constant", "value", "step", f"worth of a step, 1/{UNIT:,}", "error"),
        [
            (name, screen.usual[name], screen.steps[name], f"{UNIT * value:+.1f}", f"{UNIT * size:.1f}")
            for name, value, size in rows
        ],
    )
    print("to try:", *(f"{name}={value}" for name, value in proposal(screen, worth, error).items()), flush=True)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("constants", nargs="*", type=constant_name, metavar="NAME", help="all, unless named")
    parser.add_argument("--step", type=whole(1), default=20, help="percent of a constant's value, at least 1")
    parser.add_argument("--rounds", type=whole(1), default=4, help="settings a position, each with its mirror image")
    shared_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("screen"):
        run(parse())
