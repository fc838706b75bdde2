"""Reading of a corpus for training: the card, and files of positions, which are checked as they are read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from core_ext.corpus import TRAINING_POSITION, check_positions
from usi_engine.learn.corpus.build import CARD, HELD_OUT, TRAINING, Positions

SAMPLES, SAMPLE_BYTES = 64, 1 << 14  # of each file, for its fingerprint


class PositionFile:
    """The positions of a file, or only the first `limit` (0: all). OSError; ValueError if the last one is cut off."""

    def __init__(self, path: Path, limit: int = 0) -> None:
        self.path = path
        count, rest = divmod(path.stat().st_size, TRAINING_POSITION.itemsize)
        if rest:
            raise ValueError(f"{path} is damaged: it ends within position {count + 1}")
        self.count = min(limit, count) if limit else count

    def read(self, start: int = 0, count: int = -1) -> Positions:
        """Read `count` positions (-1: all) from `start` on, fewer at the end. OSError; ValueError if one is damaged."""
        wanted = min(count, self.count - start) if count >= 0 else self.count - start
        positions: Positions = np.fromfile(
            self.path, TRAINING_POSITION, wanted, offset=start * TRAINING_POSITION.itemsize
        )
        if len(positions) < wanted:
            raise ValueError(f"{self.path} has become shorter")
        try:
            check_positions(positions, start + 1)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        return positions


def training_file(corpus: Path, limit: int = 0) -> PositionFile:
    """Open the training positions. OSError; ValueError if there are none."""
    found = PositionFile(corpus / TRAINING, limit)
    if not found.count:
        raise ValueError(f"no positions in {found.path}")
    return found


def load_card(corpus: Path) -> dict[str, Any]:
    """Read the card. ValueError if it is damaged or its counts differ from those of the files."""
    path = corpus / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(card, dict):
        raise ValueError(f"{path} is damaged: not an object")
    for name, key in ((TRAINING, "training"), (HELD_OUT, "held_out")):
        count = PositionFile(corpus / name).count
        if card.get(key, count) != count:
            raise ValueError(f"{corpus / name} has {count} positions, but {CARD} says {card[key]}: make it anew")
    return card


def fingerprint(corpus: Path) -> str:
    """Hash the card, the sizes of the files and samples of them; all of 10 GB would take a minute. OSError."""
    found = hashlib.sha256((corpus / CARD).read_bytes())
    for name in (TRAINING, HELD_OUT):
        size = (corpus / name).stat().st_size
        found.update(size.to_bytes(8, "little"))
        with (corpus / name).open("rb") as file:
            for number in range(SAMPLES):
                file.seek(max(size - SAMPLE_BYTES, 0) * number // (SAMPLES - 1))
                found.update(file.read(SAMPLE_BYTES))
    return found.hexdigest()
