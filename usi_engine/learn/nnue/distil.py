"""A corpus scored anew by the mean of several networks, from which one network learns what they have in common.

Networks of different trainings err in different positions; their mean errs less, and a deep search, which looks for
errors, finds fewer. One network that learns the mean costs no more in play than one of them. G. Hinton, O. Vinyals and
J. Dean, "Distilling the knowledge in a neural network", 2015; figures: docs/findings.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import NO_SCORE
from core_ext.network_training import NetworkTrainer
from usi_engine.learn.corpus.build import CARD, HELD_OUT, Buckets, Positions, finish, joined
from usi_engine.learn.corpus.files import PositionFile, load_card, training_file
from usi_engine.learn.corpus.sources import Refused
from usi_engine.learn.files import write_text
from usi_engine.learn.nnue.train import set_network, values_of, with_tempo
from usi_engine.learn.selfplay.searched import Searched
from usi_engine.progress import POSITIONS, Progress
from usi_engine.usi.options import FV_SCALE

BATCH = 4096
BLOCK = 64 * BATCH
MOST_VALUE = 8000  # centipawns


class Teacher:
    """One network, with the tempo in its values. ValueError, OSError, WeightsError."""

    def __init__(self, name: str) -> None:
        network = with_tempo(name)
        sizes = network.architecture
        self._trainer = NetworkTrainer(
            sizes.width, sizes.hidden1, sizes.hidden2, BATCH, threads=1, features=sizes.features, fv_scale=FV_SCALE
        )
        set_network(self._trainer, network)
        self._trainer.refresh(rounded=True)

    def values(self, positions: Positions) -> npt.NDArray[np.float64]:
        """Centipawns for Black."""
        return values_of(self._trainer, positions, BATCH, self._work)

    def _work(self, phases: tuple[int, ...]) -> None:
        for phase in phases:
            self._trainer.work(phase, 0)


def rescored_by(teachers: Sequence[Teacher], positions: Positions, share: float) -> Positions:
    """The positions with scores of which this share is the teachers' mean value; all of it where there is no score."""
    mean = np.mean([teacher.values(positions) for teacher in teachers], axis=0)
    own = np.where(positions["score"] == NO_SCORE, mean, positions["score"])
    blended = np.clip(np.rint(share * mean + (1 - share) * own), -MOST_VALUE, MOST_VALUE)
    found: Positions = positions.copy()
    found["score"] = blended.astype(np.int16)
    return found


def distil(
    corpus: Path, networks: Sequence[str], out: Path, share: float, searched: Searched | None = None
) -> dict[str, Any]:
    """Write a corpus of the same positions with these scores, and of those searched, into `out`; returns its card.

    The held-out positions keep their scores, so that figures stay comparable. ValueError, OSError, WeightsError.
    """
    if out.resolve() == corpus.resolve():
        raise ValueError(f"--out {out}: is also read")
    card, teachers = load_card(corpus), [Teacher(name) for name in networks]
    every, seed = split_of(card, corpus)
    games = searched.count() if searched else 0
    out.mkdir(parents=True, exist_ok=True)
    buckets, refused = Buckets(out, seed), Refused()
    try:
        fill(buckets, corpus, teachers, share)
        added = add_valued(buckets, searched.positions(refused, games), teachers) if searched else 0
        buckets.close()
        training, held = finish(buckets, out, every, seed, refused)
    finally:
        buckets.remove()
    made = {"networks": [Path(name).name for name in networks], "share": share}
    if searched:
        made |= {"searched": added, "games": [path.name for path in searched.games], "not_used": refused.line}
    card |= {"training": training, "held_out": held, "distilled": made}
    write_text(out / CARD, json.dumps(card, indent=1) + "\n")
    return card


def split_of(card: dict[str, Any], corpus: Path) -> tuple[int, int]:
    """One game in how many is held out, and the seed by which they are drawn. ValueError."""
    every, seed = card.get("every"), card.get("seed")
    if not (isinstance(every, int) and isinstance(seed, int) and every > 0 and seed >= 0):
        raise ValueError(f"{corpus / CARD} does not tell which games are held out (every {every}, seed {seed})")
    return every, seed


def fill(buckets: Buckets, corpus: Path, teachers: Sequence[Teacher], share: float) -> None:
    """All positions of a corpus into the buckets, those for training with new scores."""
    training, held = training_file(corpus), PositionFile(corpus / HELD_OUT)
    progress = Progress(POSITIONS, training.count)
    for start in range(0, held.count, BLOCK):
        buckets.add(held.read(start, BLOCK))
    for start in range(0, training.count, BLOCK):
        positions = rescored_by(teachers, training.read(start, BLOCK), share)
        buckets.add(positions)
        progress.add(len(positions), len(positions))


def add_valued(buckets: Buckets, parts: Iterable[Positions], teachers: Sequence[Teacher]) -> int:
    """Positions without scores of their own into the buckets, with the teachers' values; returns how many."""
    count = 0
    for positions in joined(parts):
        buckets.add(rescored_by(teachers, positions, 1.0))
        count += len(positions)
    return count
