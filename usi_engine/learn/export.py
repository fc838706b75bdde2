"""The float model to the integers of play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.coarse import fold_pieces, fold_relative, king_rows
from core_ext.engine import Weights
from core_ext.learning import LOGIT, ROW, Trainer
from usi_engine.weights import BONAPIECES, HALF_SQUARES, Folded, Words

FV_SCALE = 32
TURN_STEP = 4
STEP = 8  # rounding 1,406 pairs to quarters of a centipawn errs by 2.7 centipawns (standard deviation)


def quantised(values: npt.NDArray[Any], unit: float, step: int = 1) -> Words:
    """Weights of the model to multiples of step/32 centipawn."""
    return np.clip(np.rint(values * (unit / step)), -32767, 32767).astype(np.int16)


def export(trainer: Trainer) -> Folded:
    """Quantise. The model's centipawns are those of play, so that self-play's scores and a teacher's mean the same."""
    unit = LOGIT * FV_SCALE

    def weights(name: str, size: int) -> npt.NDArray[np.float32]:
        return trainer.cells(name)[:, 0] if name in trainer.terms else np.zeros(size, np.float32)

    kp = weights("kp", HALF_SQUARES * BONAPIECES) + fold_relative(weights("relative", 18 * 17 * 17))
    pairs = BONAPIECES * (BONAPIECES + 1) // 2
    kpp = np.zeros((HALF_SQUARES, pairs), np.float32)
    if "kpp" in trainer.terms:
        rows = weights("kpp", 0).reshape(-1, pairs, ROW)
        for king, (zone, own) in enumerate(king_rows()):
            kpp[king] = rows[zone, :, 0] + rows[zone, :, own]
    return Folded(
        piece=np.rint(fold_pieces(weights("piece", 16)) * unit).astype(np.int32),
        tempo=round(float(weights("tempo", 1)[0]) * unit),
        kp=quantised(kp, unit),
        pp=quantised(weights("pp", pairs), unit),
        kkp=quantised(weights("kkp", HALF_SQUARES * 81 * BONAPIECES), unit, STEP),
        kkp_step=STEP,
        kpp=quantised(kpp.reshape(-1), unit, STEP),
        kpp_step=STEP,
        kp_turn=quantised(weights("kp_turn", HALF_SQUARES * BONAPIECES), unit),
        pp_turn=np.clip(quantised(weights("pp_turn", pairs), unit, TURN_STEP), -128, 127),
    )


def weights_of(folded: Folded) -> Weights:
    """Unfolded for play without a file in between."""
    weights = Weights()
    weights.allocate()
    weights.unfold_pieces(folded.piece, folded.kp.reshape(-1), folded.kkp.reshape(-1), folded.kkp_step)
    for king, words in enumerate(folded.kpp.reshape(HALF_SQUARES, -1)):
        weights.unfold_king(king, folded.pp, words, folded.kpp_step)
    weights.unfold_turn(folded.kp_turn, folded.pp_turn)
    weights.use(folded.tempo)
    return weights
