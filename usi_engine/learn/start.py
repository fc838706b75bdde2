"""Weights of a file as the float model: what export wrote comes back, so that learning can go on from them."""

from __future__ import annotations

import numpy as np

from core_ext.learn.factorized import fold_pieces, king_rows, unfold_pairs
from core_ext.training import ROW, SIZES, Trainer
from usi_engine.core import WeightsError
from usi_engine.learn.export import UNIT, quantised
from usi_engine.weights import HALF_SQUARES, Folded


def begin_with(trainer: Trainer, folded: Folded) -> None:
    """Set the weights of a trainer with all terms to those of a file; exported, they are the same words again.

    (A file in finer steps than export writes is rounded to those then.)

    What coarser terms had added to finer ones stays there: zones and terms by offset begin at nothing. A file says
    nothing of how sure its weights are, nor of the tempo of positions without a game (that of games stands in).
    WeightsError where pairs are not worth the opposite to the other colour, as before weights shared them; ValueError
    for a smaller model.
    """
    if set(trainer.terms) != set(SIZES):
        raise ValueError(f"learning goes on with all terms, not with {', '.join(trainer.terms)} alone")
    for name in trainer.terms:
        trainer.cells(name)[:, 0] = 0
    trainer.cells("tempo")[:, 0] = folded.tempo / UNIT
    trainer.cells("piece")[:, 0] = folded.piece[black_numbers()] / UNIT
    trainer.cells("kp")[:, 0] = folded.kp.reshape(-1) / UNIT
    trainer.cells("kkp")[:, 0] = folded.kkp.reshape(-1) * (folded.kkp_step / UNIT)
    trainer.cells("kp_turn")[:, 0] = folded.kp_turn.reshape(-1) / UNIT
    trainer.cells("pp")[:, 0] = folded.pp * (2 / UNIT)  # each king's view has half of it
    trainer.cells("pp_turn")[:, 0] = folded.pp_turn * (folded.turn_step / UNIT)
    rows = trainer.cells("kpp").reshape(-1, SIZES["pp"], ROW, 2)
    for (zone, own), words in zip(king_rows(), folded.kpp.reshape(HALF_SQUARES, -1), strict=True):
        rows[zone, :, own, 0] = words * (folded.kpp_step / UNIT)
    no_offsets = np.zeros(SIZES["relative_pp"], np.float32)
    if not np.array_equal(quantised(unfold_pairs(trainer.cells("pp")[:, 0], no_offsets)), folded.pp):
        raise WeightsError("cannot go on from these weights: their pairs know a colour, as before generation 6")


def black_numbers() -> list[int]:
    """A Bonapiece of each kind that has a value, Black's."""
    kinds = fold_pieces(np.arange(1, SIZES["piece"] + 1, dtype=np.float32))
    return [int(np.flatnonzero(kinds == kind + 1)[0]) for kind in range(SIZES["piece"])]
