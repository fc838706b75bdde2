"""Distillation: a corpus scored by the mean of several networks, from which one network learns.

Different networks err in different positions, so their mean errs less. A network that learns the mean costs no more in
play than one of them. G. Hinton, O. Vinyals and J. Dean, "Distilling the knowledge in a neural network", 2015; figures:
docs/findings.md.
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
from usi_engine.learn.corpus.build import CARD, HELD_OUT, Buckets, Positions, batched, finish
from usi_engine.learn.corpus.files import PositionFile, load_card, training_file
from usi_engine.learn.corpus.sources import SkippedItems
from usi_engine.learn.nnue.train import set_network, values_of, with_tempo
from usi_engine.learn.selfplay.search_positions import SearchPositions
from usi_engine.progress import POSITIONS, Progress
from usi_engine.records.files import write_text
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
        return values_of(self._trainer, positions, BATCH, self._work)

    def _work(self, phases: tuple[int, ...]) -> None:
        for phase in phases:
            self._trainer.work(phase, 0)


def rescored_by(teachers: Sequence[Teacher], positions: Positions, share: float) -> Positions:
    """Mix `share` of the teachers' mean value into the scores; positions without a score get the mean."""
    mean = np.mean([teacher.values(positions) for teacher in teachers], axis=0)
    own = np.where(positions["score"] == NO_SCORE, mean, positions["score"])
    blended = np.clip(np.rint(share * mean + (1 - share) * own), -MOST_VALUE, MOST_VALUE)
    found: Positions = positions.copy()
    found["score"] = blended.astype(np.int16)
    return found


def distil(
    corpus: Path, networks: Sequence[str], out: Path, share: float, searches: SearchPositions | None = None
) -> dict[str, Any]:
    """Write a corpus of the same positions with new scores, and of those searched, into `out`; return its card.

    Held-out positions keep their scores, so figures stay comparable. ValueError, OSError, WeightsError.
    """
    if out.resolve() == corpus.resolve():
        raise ValueError(f"--out {out}: is also read")
    card, teachers = load_card(corpus), [Teacher(name) for name in networks]
    every, seed = split_of(card, corpus)
    games = searches.count() if searches else 0
    out.mkdir(parents=True, exist_ok=True)
    buckets, skipped = Buckets(out, seed), SkippedItems()
    try:
        fill(buckets, corpus, teachers, share)
        added = add_valued(buckets, searches.positions(skipped, games), teachers) if searches else 0
        buckets.close()
        training, held_out = finish(buckets, out, every, seed, skipped)
    finally:
        buckets.remove()
    made = {"networks": [Path(name).name for name in networks], "share": share}
    if searches:
        made |= {"searched": added, "games": [path.name for path in searches.games], "not_used": skipped.line}
    card |= {"training": training, "held_out": held_out, "distilled": made}
    write_text(out / CARD, json.dumps(card, indent=1) + "\n")
    return card


def split_of(card: dict[str, Any], corpus: Path) -> tuple[int, int]:
    """Return `every` and `seed`, which choose the held-out games. ValueError."""
    every, seed = card.get("every"), card.get("seed")
    if not (isinstance(every, int) and isinstance(seed, int) and every > 0 and seed >= 0):
        raise ValueError(f"{corpus / CARD} does not tell which games are held out (every {every}, seed {seed})")
    return every, seed


def fill(buckets: Buckets, corpus: Path, teachers: Sequence[Teacher], share: float) -> None:
    """Add all positions of a corpus to the buckets, training positions with new scores."""
    training, held_out = training_file(corpus), PositionFile(corpus / HELD_OUT)
    progress = Progress(POSITIONS, training.count)
    for start in range(0, held_out.count, BLOCK):
        buckets.add(held_out.read(start, BLOCK))
    for start in range(0, training.count, BLOCK):
        positions = rescored_by(teachers, training.read(start, BLOCK), share)
        buckets.add(positions)
        progress.add(len(positions), len(positions))


def add_valued(buckets: Buckets, parts: Iterable[Positions], teachers: Sequence[Teacher]) -> int:
    """Add positions to the buckets, scored by the teachers alone; return their number."""
    count = 0
    for positions in batched(parts):
        buckets.add(rescored_by(teachers, positions, 1.0))
        count += len(positions)
    return count
