"""Warm start: the weights of a file become the float model, from which training continues."""

from __future__ import annotations

import numpy as np

from core_ext.engine import HALF_SQUARES
from core_ext.training import ROW_SIZE, SIZES, Trainer, coalesce_pairs, coalesce_pieces, king_slots
from usi_engine.evaluation.kpp_file import Folded
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.kpp.export import UNIT, quantised


def load_model(trainer: Trainer, folded: Folded) -> None:
    """Set the weights of a trainer with all terms to those of a file; exporting them gives the same file again.

    Weights in finer steps than export's are rounded. Factorized terms start at zero, because a file holds only the
    terms they were coalesced into; accumulators stay as they are. The file's single tempo, that of games, also
    serves positions without a game. WeightsError if pairs and their inverses do not have opposite values, because the
    model has one weight for both; ValueError if the model lacks terms.
    """
    if set(trainer.terms) != set(SIZES):
        raise ValueError(f"a warm start needs all terms, not only {', '.join(trainer.terms)}")
    for name in trainer.terms:
        trainer.parameters(name)[:, 0] = 0
    trainer.parameters("tempo")[:, 0] = folded.tempo / UNIT
    trainer.parameters("piece")[:, 0] = folded.piece[black_numbers()] / UNIT
    trainer.parameters("kp")[:, 0] = folded.kp.reshape(-1) / UNIT
    trainer.parameters("kkp")[:, 0] = folded.kkp.reshape(-1) * (folded.kkp_step / UNIT)
    trainer.parameters("kp_tempo")[:, 0] = folded.kp_tempo.reshape(-1) / UNIT
    trainer.parameters("pp")[:, 0] = folded.pp * (2 / UNIT)  # each king's perspective counts half of it
    trainer.parameters("pp_tempo")[:, 0] = folded.pp_tempo * (folded.tempo_step / UNIT)
    rows = trainer.parameters("kpp").reshape(-1, SIZES["pp"], ROW_SIZE, 2)
    for (zone, slot), words in zip(king_slots(), folded.kpp.reshape(HALF_SQUARES, -1), strict=True):
        rows[zone, :, slot, 0] = words * (folded.kpp_step / UNIT)
    no_relative = np.zeros(SIZES["relative_pp"], np.float32)
    if not np.array_equal(quantised(coalesce_pairs(trainer.parameters("pp")[:, 0], no_relative)), folded.pp):
        raise WeightsError("a pair and its inverse have different weights")


def black_numbers() -> list[int]:
    """Return one of Black's Bonapiece numbers for each kind with a value."""
    kinds = coalesce_pieces(np.arange(1, SIZES["piece"] + 1, dtype=np.float32))
    return [int(np.flatnonzero(kinds == kind + 1)[0]) for kind in range(SIZES["piece"])]
