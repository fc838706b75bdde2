"""The float model to the integers of play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import Weights
from core_ext.learn.factorized import add_relative_turn, fold_pieces, fold_relative, king_rows, unfold_pairs
from core_ext.training import LOGIT, ROW, SIZES, Trainer
from usi_engine.weights import HALF_SQUARES, Folded, Words

FV_SCALE = 32
UNIT = LOGIT * FV_SCALE  # words of play for one of the model
TURN_STEP = 4  # that of play: one byte a pair
STEP = 8  # rounding 1,406 pairs to quarters of a centipawn errs by 2.7 centipawns (standard deviation)


def quantised(values: npt.NDArray[Any], step: int = 1) -> Words:
    """Weights of the model to multiples of step/32 centipawn."""
    return np.clip(np.rint(values * (UNIT / step)), -32767, 32767).astype(np.int16)


def export(trainer: Trainer) -> Folded:
    """Quantise. The model's centipawns are those of play, so that self-play's scores and a teacher's mean the same."""

    def weights(name: str) -> npt.NDArray[np.float32]:
        return trainer.cells(name)[:, 0] if name in trainer.terms else np.zeros(SIZES[name], np.float32)

    kp = weights("kp") + fold_relative(weights("relative"))
    kpp = np.zeros((HALF_SQUARES, SIZES["pp"]), np.float32)
    if "kpp" in trainer.terms:
        rows = weights("kpp").reshape(-1, SIZES["pp"], ROW)
        for king, (zone, own) in enumerate(king_rows()):
            kpp[king] = rows[zone, :, 0] + rows[zone, :, own]
    pp_turn = add_relative_turn(weights("pp_turn"), weights("relative_pp_turn"))
    return Folded(
        piece=np.rint(fold_pieces(weights("piece")) * UNIT).astype(np.int32),
        tempo=round(float(weights("tempo")[0]) * UNIT),
        kp=quantised(kp),
        pp=quantised(unfold_pairs(weights("pp"), weights("relative_pp"))),
        kkp=quantised(weights("kkp"), STEP),
        kkp_step=STEP,
        kpp=quantised(kpp.reshape(-1), STEP),
        kpp_step=STEP,
        kp_turn=quantised(weights("kp_turn")),
        pp_turn=np.clip(quantised(pp_turn, TURN_STEP), -128, 127),
        turn_step=TURN_STEP,
    )


def weights_of(folded: Folded) -> Weights:
    """Unfolded for play without a file in between."""
    weights = Weights()
    weights.allocate()
    weights.unfold_pieces(folded.piece, folded.kp.reshape(-1), folded.kkp.reshape(-1), folded.kkp_step)
    for king, words in enumerate(folded.kpp.reshape(HALF_SQUARES, -1)):
        weights.unfold_king(king, folded.pp, words, folded.kpp_step)
    weights.unfold_tempo(folded.kp_turn, folded.pp_turn, folded.turn_step)
    weights.complete(folded.tempo)
    return weights
