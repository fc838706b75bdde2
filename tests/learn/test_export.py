"""The evaluation in play agrees with the float model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from core_ext.board import Board
from core_ext.engine import Worker
from core_ext.training import LOGIT
from tests.conftest import NewWorker
from tests.learn.helpers import noisy, walked_positions, weights_of
from usi_engine.learn.kpp import export


def check_agreement(worker: Worker, positions: list[tuple[str, Any]], floats: Iterable[float], tolerance: int) -> None:
    """Compare the values in play with the float model's, which are Black's, within `tolerance` centipawns."""
    for (sfen, position), value in zip(positions, floats, strict=True):
        value_in_play = worker.evaluate(Board(sfen))[-1][1]
        assert abs(value_in_play - (value if position["side"] == 0 else -value)) < tolerance, sfen


def test_relative_pairs_are_coalesced(new_worker: NewWorker) -> None:
    """Each pair is rounded to 1/32 centipawn twice, and to 4/32 for the tempo."""
    terms = ["piece", "pp", "pp_tempo", "relative_pp", "relative_pp_tempo"]
    trainer = noisy(terms)
    for name in terms:
        trainer.parameters(name)[:, 0] *= 0.2
    positions = walked_positions(1000, seed=4)
    floats = trainer.values(np.array([position for _, position in positions])) * LOGIT
    check_agreement(new_worker(weights_of(export(trainer))), positions, floats, 6)
