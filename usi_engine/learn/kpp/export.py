"""Quantisation of the float model to the integers of play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import FV_SCALE, HALF_SQUARES, TEMPO_STEP
from core_ext.training import (
    LOGIT,
    ROW_SIZE,
    SIZES,
    Trainer,
    coalesce_pairs,
    coalesce_pieces,
    coalesce_relative_kp,
    coalesce_tempo_pairs,
    king_slots,
)
from usi_engine.evaluation.kpp_file import Folded, Words

UNIT = LOGIT * FV_SCALE  # integer of play for a weight of 1 in the model
STEP = 8  # a quarter of a centipawn; rounding 1,406 pairs to it has a standard deviation of 2.7 centipawns


def quantised(values: npt.NDArray[Any], step: int = 1) -> Words:
    """Round weights of the model to multiples of step/32 centipawn."""
    return np.clip(np.rint(values * (UNIT / step)), -32767, 32767).astype(np.int16)


def export(trainer: Trainer) -> Folded:
    """Quantise the model. Its centipawns are those of play, so scores of self-play and of a teacher mean the same."""

    def weights(name: str) -> npt.NDArray[np.float32]:
        return trainer.parameters(name)[:, 0] if name in trainer.terms else np.zeros(SIZES[name], np.float32)

    kp = weights("kp") + coalesce_relative_kp(weights("relative"))
    kpp = np.zeros((HALF_SQUARES, SIZES["pp"]), np.float32)
    if "kpp" in trainer.terms:
        rows = weights("kpp").reshape(-1, SIZES["pp"], ROW_SIZE)
        for king, (zone, slot) in enumerate(king_slots()):
            kpp[king] = rows[zone, :, 0] + rows[zone, :, slot]
    pp_tempo = coalesce_tempo_pairs(weights("pp_tempo"), weights("relative_pp_tempo"))
    return Folded(
        piece=np.rint(coalesce_pieces(weights("piece")) * UNIT).astype(np.int32),
        tempo=round(float(weights("tempo")[0]) * UNIT),
        kp=quantised(kp),
        pp=quantised(coalesce_pairs(weights("pp"), weights("relative_pp"))),
        kkp=quantised(weights("kkp"), STEP),
        kkp_step=STEP,
        kpp=quantised(kpp.reshape(-1), STEP),
        kpp_step=STEP,
        kp_tempo=quantised(weights("kp_tempo")),
        pp_tempo=np.clip(quantised(pp_tempo, TEMPO_STEP), -128, 127),
        tempo_step=TEMPO_STEP,
    )
