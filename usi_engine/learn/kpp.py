"""Training of KPP weights: the model from weights and back, epochs, learning rates, checkpoints, metrics, export."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
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
from usi_engine.evaluation.names import WeightsError
from usi_engine.files import atomic_write, make_folder
from usi_engine.learn import checkpoint
from usi_engine.learn.corpus.batches import PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.corpus.chances import Positions, agreement
from usi_engine.learn.files import HELD_OUT
from usi_engine.progress import POSITIONS, Progress

BLOCK = 1 << 14
SORT_SPAN = 1 << 12  # positions sorted at a time: more are faster, but their order is less random
REPORT_SECONDS = 2.0
RARE_TERMS = ("pp", "kkp", "kpp", "pp_tempo", "relative_pp", "relative_pp_tempo")  # with mostly rare features
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


@dataclass(frozen=True)
class Plan:
    """Settings of a training run."""

    model: str = "KPPT"
    epochs: int = 3
    # Rates of P and tempo, KP, KKP, PP, PP by king zone, KPP, PP tempo, relative PP, relative PP tempo.
    rates: tuple[float, ...] = (0.02, 0.02, 0.003, 0.009, 0.003, 0.0008, 0.001, 0.006, 0.002)
    rate_decay: float = 0.6  # factor from epoch to epoch
    last_decay: float = 0.1  # factor over the last epoch, linear
    rare_accumulator: float = 0.4  # initial accumulator of RARE_TERMS: rare features move little
    result_share: float = 0.0  # single results overfit: a share of 0.2 cost 79 Elo
    threads: int = 1  # or 2, with the same weights
    positions: int = 0  # 0: all
    warm_start: str = ""  # initial weights, as an EvalFile names them
    initial_accumulator: float = 0.0  # of all other terms
    checkpoint_minutes: float = 10.0


def warm_start_plan(plan: Plan, weights: str) -> Plan:
    """Return the plan of a warm start: large initial accumulators make the effective learning rates small."""
    return replace(plan, warm_start=weights, rare_accumulator=3e4, initial_accumulator=1e6)


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


# ---- training ----


ZONE = king_zones()


def sort_by_zones(positions: Positions) -> Positions:
    """Sort SORT_SPAN positions at a time by their kings' zones, so that successive positions share cached weights."""
    zones = ZONE[positions["king"]]
    return np.array(positions[np.lexsort((zones[:, WHITE], zones[:, BLACK], np.arange(len(positions)) // SORT_SPAN))])


class Training:
    """A training run; its folder holds the checkpoint and the curve."""

    def __init__(self, corpus: Path, folder: Path, plan: Plan) -> None:
        self.plan, self.folder = plan, folder
        self.card = load_card(corpus)
        self.file = training_file(corpus, plan.positions)
        self.held_out = PositionFile(corpus / HELD_OUT).read()
        self.trainer = Trainer(MODELS[plan.model])
        if plan.warm_start:
            folded = read_folded(plan.warm_start)
            try:
                load_model(self.trainer, folded)
            except WeightsError as error:
                raise WeightsError(f"no warm start from '{plan.warm_start}': {error}") from None
        self.identity = checkpoint.identify(asdict(plan), fingerprint(corpus))
        for name in self.trainer.terms:
            self.trainer.parameters(name)[:, 1] = self.initial_accumulator(name)
        self.done, self.curve = 0, checkpoint.Curve()  # `done`: positions trained on, in all epochs
        make_folder(folder)

    def initial_accumulator(self, name: str) -> float:
        return self.plan.rare_accumulator if name in RARE_TERMS else self.plan.initial_accumulator

    @property
    def total(self) -> int:
        return self.plan.epochs * self.file.count

    def blocks(self) -> Iterator[tuple[int, Positions]]:
        """Yield epoch and positions of each block that is left."""
        while self.done < self.total:
            epoch, at = divmod(self.done, self.file.count)
            yield epoch, sort_by_zones(self.file.read(at, BLOCK))

    def run(self, epoch_done: Callable[[int], object] = lambda _: None) -> None:
        """Train to the end, from the checkpoint if there is one. Call `epoch_done` with the number of each epoch."""
        self.resume()
        log = checkpoint.TrainingLog(self.folder, self.done)
        saved = time.monotonic()
        with Progress(POSITIONS, self.total, self.done, REPORT_SECONDS) as progress:
            for epoch, positions in self.blocks():
                rates = self.rates(epoch)
                loss = self.learn(positions, rates) / len(positions)
                self.done += len(positions)
                epoch_ends = self.done % self.file.count == 0
                log.add(self.done, loss, rates[0], epoch_ends)
                due = time.monotonic() - saved > 60 * self.plan.checkpoint_minutes
                if due or epoch_ends:
                    checkpoint.add_point(self.folder, self.curve, self.point(epoch))
                    self.save()
                    saved = time.monotonic()
                if epoch_ends:
                    epoch_done(epoch + 1)
                progress.add(len(positions), note=f"squared error {loss:.5f}")

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of the next block; they decay by epoch, and linearly within the last one."""
        factor = self.plan.rate_decay**epoch
        if epoch == self.plan.epochs - 1:
            factor *= 1 - (1 - self.plan.last_decay) * (self.done % self.file.count) / self.file.count
        return [rate * factor for rate in self.plan.rates]

    def learn(self, positions: Positions, rates: list[float]) -> float:
        """Train on one block, each thread on its shard of every position. Return the squared error."""
        arguments = (positions, rates, LOGIT, self.plan.result_share)
        if self.plan.threads == 1:
            return self.trainer.learn(*arguments)
        rendezvous = Rendezvous()
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(self.trainer.learn_shard, shard, rendezvous, *arguments) for shard in (0, 1)]
            return [job.result() for job in jobs].pop()

    def point(self, epoch: int) -> dict[str, float]:
        """Return a point of the curve."""
        done, values = {"epoch": epoch + 1.0, "positions": float(self.done)}, self.trainer.values(self.held_out)
        return done | agreement(values * LOGIT, self.held_out, self.plan.result_share)

    def save(self) -> None:
        """Write the changed parameters and the progress, from which the run continues bit for bit."""
        arrays: dict[str, Any] = {"_positions": self.done}
        for name in self.trainer.terms:
            parameters = self.trainer.parameters(name)
            initial = np.float32(self.initial_accumulator(name))
            indices = np.flatnonzero((parameters[:, 1] != initial) | (parameters[:, 0] != 0))
            arrays |= {name: parameters[indices], f"{name}_indices": indices.astype(np.uint32)}
        checkpoint.save_checkpoint(self.folder, self.identity, self.curve, arrays, finished=self.done == self.total)

    def resume(self) -> None:
        """Load the checkpoint, if there is one. ValueError if it is damaged or of another plan or corpus."""
        with checkpoint.open_checkpoint(self.folder, self.identity) as saved:
            if saved is None:
                return
            arrays, curve = saved
            self.done, self.curve = checkpoint.checked_count(arrays["_positions"], self.total), curve
            for name in self.trainer.terms:
                self.trainer.parameters(name)[arrays[f"{name}_indices"]] = arrays[name]

    def export(self, path: Path, extra: dict[str, Any]) -> int:
        """Quantise and write the weights with their card; return the size of the file."""
        card = checkpoint.describe(self.plan.model, self.card, asdict(self.plan), self.done, self.curve)
        with atomic_write(path) as part:
            return save_weights(part, export(self.trainer), card | extra)
