"""Training of KPP weights: the model from weights and back, learning rates, steps."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.board import BLACK, WHITE
from core_ext.engine import FV_SCALE, HALF_SQUARES, TEMPO_STEP
from core_ext.training import (
    LOGIT,
    ROW_SIZE,
    SIZES,
    Rendezvous,
    Trainer,
    coalesce_pairs,
    coalesce_pieces,
    coalesce_relative_kp,
    coalesce_tempo_pairs,
    king_slots,
    king_zones,
)
from usi_engine.evaluation.kpp_file import Folded, Words, read_folded, save_weights
from usi_engine.evaluation.load import KPP_SUFFIX
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.corpus.chances import Positions, agreement
from usi_engine.learn.files import check_output
from usi_engine.learn.settings import TrainKpp
from usi_engine.learn.training import TrainingRun

BLOCK = 1 << 14
SORT_SPAN = 1 << 12  # positions sorted at a time: more are faster, but their order is less random
RARE_TERMS = ("pp", "kkp", "kpp", "pp_tempo", "relative_pp", "relative_pp_tempo")  # with mostly rare features
# Initial accumulators of other terms and of RARE_TERMS: rare features move little, and after a warm start all do.
USUAL, WARM_START = (0.0, 0.4), (1e6, 3e4)
UNIT = LOGIT * FV_SCALE  # integer of play for a weight of 1 in the model
STEP = 8  # a quarter of a centipawn; rounding 1,406 pairs to it has a standard deviation of 2.7 centipawns
# Models of growing size, compared in docs/findings.md.
MODELS = {
    "P": ("piece",),
    "KP": ("piece", "tempo", "kp", "relative"),
    "PP": ("piece", "tempo", "kp", "relative", "pp", "relative_pp"),
    "KPP": ("piece", "tempo", "kp", "relative", "pp", "relative_pp", "kkp", "kpp"),
    "KPPT": tuple(SIZES),
}


# ---- the model and the weights of play ----


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


def load_model(trainer: Trainer, folded: Folded) -> None:
    """Set the weights of a trainer with all terms to those of a file; exporting them gives the same file again.

    Weights in finer steps than export's are rounded. Factorized terms start at zero, because a file holds only the
    terms they were coalesced into; accumulators stay as they are. The file's single tempo, that of games, also
    serves positions without a game. WeightsError if pairs and their inverses do not have opposite values, because the
    model has one weight for both; ValueError if the model lacks terms.
    """
    if set(trainer.terms) != set(SIZES):
        raise ValueError("--warm-start needs --network KPPT")
    for name in trainer.terms:
        trainer.parameters(name)[:, 0] = 0
    trainer.parameters("tempo")[:, 0] = folded.tempo / UNIT
    kinds = coalesce_pieces(np.arange(1, SIZES["piece"] + 1, dtype=np.float32)).tolist()  # of Black's numbers
    trainer.parameters("piece")[:, 0] = [folded.piece[kinds.index(kind + 1)] / UNIT for kind in range(SIZES["piece"])]
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


# ---- training ----


ZONE = king_zones()


def sort_by_zones(positions: Positions) -> Positions:
    """Sort SORT_SPAN positions at a time by their kings' zones, so that successive positions share cached weights."""
    zones = ZONE[positions["king"]]
    return np.array(positions[np.lexsort((zones[:, WHITE], zones[:, BLACK], np.arange(len(positions)) // SORT_SPAN))])


class KppTraining(TrainingRun):
    """A training of KPP weights by Adagrad."""

    settings: TrainKpp

    def __init__(self, settings: TrainKpp) -> None:
        check_output(settings.out, (KPP_SUFFIX,), weights=True)
        super().__init__(settings)
        self.trainer = Trainer(MODELS[settings.network])
        if settings.warm_start:
            folded = read_folded(settings.warm_start)
            try:
                load_model(self.trainer, folded)
            except WeightsError as error:
                raise WeightsError(f"no warm start from '{settings.warm_start}': {error}") from None
        for name in self.trainer.terms:
            self.trainer.parameters(name)[:, 1] = self.initial_accumulator(name)

    def initial_accumulator(self, name: str) -> float:
        return (WARM_START if self.settings.warm_start else USUAL)[name in RARE_TERMS]

    def steps(self) -> Iterator[tuple[float, int]]:
        """Train on the blocks that are left."""
        while self.done < self.total:
            positions = sort_by_zones(self.file.read(self.done % self.file.count, BLOCK))
            yield self.learn(positions) / len(positions), len(positions)

    def rate(self) -> float:
        return self.rates()[0]

    def rates(self) -> list[float]:
        """Return the learning rates of the next block; they decay by epoch, and linearly within the last one."""
        epoch, at = divmod(self.done, self.file.count)
        factor = self.settings.rate_decay**epoch
        if epoch == self.settings.epochs - 1:
            factor *= 1 - (1 - self.settings.last_decay) * at / self.file.count
        return [rate * factor for rate in self.settings.rates]

    def learn(self, positions: Positions) -> float:
        """Train on one block, each thread on its shard of every position. Return the squared error."""
        arguments = (positions, self.rates(), LOGIT, self.result_share)
        if self.settings.threads == 1:
            return self.trainer.learn(*arguments)
        rendezvous = Rendezvous()
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(self.trainer.learn_shard, shard, rendezvous, *arguments) for shard in (0, 1)]
            return [job.result() for job in jobs].pop()

    def figures(self) -> dict[str, float]:
        return agreement(self.trainer.values(self.held_out) * LOGIT, self.held_out, self.settings.results[-1])

    def arrays(self) -> dict[str, Any]:
        """Return the parameters that have changed."""
        found: dict[str, Any] = {}
        for name in self.trainer.terms:
            parameters = self.trainer.parameters(name)
            initial = np.float32(self.initial_accumulator(name))
            indices = np.flatnonzero((parameters[:, 1] != initial) | (parameters[:, 0] != 0))
            found |= {name: parameters[indices], f"{name}_indices": indices.astype(np.uint32)}
        return found

    def restore(self, arrays: Any) -> None:
        for name in self.trainer.terms:
            self.trainer.parameters(name)[arrays[f"{name}_indices"]] = arrays[name]

    def write(self, path: Path) -> int:
        return save_weights(path, export(self.trainer), self.describe())


def train_kpp(settings: TrainKpp) -> dict[str, Any]:
    """Train KPP weights and write them; return what `export` does. OSError, ValueError, WeightsError."""
    training = KppTraining(settings)
    training.run()
    return training.export(settings.out)
