"""Training of KPP weights: epochs, learning rates, checkpoints, progress, metrics on held-out games, export."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core_ext.board import BLACK, WHITE
from core_ext.training import LOGIT, SIZES, Rendezvous, Trainer, king_zones
from usi_engine.evaluation.kpp_file import read_folded, save_weights
from usi_engine.evaluation.names import WeightsError
from usi_engine.files import atomic_write, make_folder
from usi_engine.learn.checkpoint import Curve, add_point, checked_count, identity_of, open_checkpoint, save_checkpoint
from usi_engine.learn.corpus.agreement import agreement, sigmoid
from usi_engine.learn.corpus.build import HELD_OUT, Positions
from usi_engine.learn.corpus.files import PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.kpp.export import export
from usi_engine.learn.kpp.warm_start import load_model
from usi_engine.progress import POSITIONS, Progress

BLOCK = 1 << 14
SORT_SPAN = 1 << 12  # positions sorted at a time: more are faster, but their order is less random
REPORT_SECONDS = 2.0
RARE_TERMS = ("pp", "kkp", "kpp", "pp_tempo", "relative_pp", "relative_pp_tempo")  # with mostly rare features
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
    score_scale: float = 600.0
    result_share: float = 0.0  # single results overfit: a share of 0.2 cost 79 Elo
    threads: int = 1  # or 2, with the same weights
    positions: int = 0  # 0: all
    warm_start: str = ""  # initial weights, as an EvalFile names them
    initial_accumulator: float = 0.0  # of all other terms
    checkpoint_minutes: float = 10.0

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that the weights depend on."""
        return {name: value for name, value in asdict(self).items() if name not in ("threads", "checkpoint_minutes")}


def warm_start_plan(plan: Plan, weights: str) -> Plan:
    """Return the plan of a warm start: large initial accumulators make the effective learning rates small."""
    return replace(plan, warm_start=weights, rare_accumulator=3e4, initial_accumulator=1e6)


ZONE = king_zones()


def sort_by_zones(positions: Positions) -> Positions:
    """Sort SORT_SPAN positions at a time by their kings' zones, so that successive positions share cached weights."""
    zones = ZONE[positions["king"]]
    return np.array(positions[np.lexsort((zones[:, WHITE], zones[:, BLACK], np.arange(len(positions)) // SORT_SPAN))])


def measure(trainer: Trainer, positions: Positions, plan: Plan) -> dict[str, float]:
    """Return `agreement` of a trainer on held-out positions, if there are any."""
    if not len(positions):
        return {}
    win = sigmoid(trainer.values(positions) * (LOGIT / plan.score_scale))
    return agreement(win, positions, plan.score_scale, plan.result_share)


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
        self.identity = identity_of(plan.identity, fingerprint(corpus), plan.warm_start)
        for name in self.trainer.terms:
            self.trainer.parameters(name)[:, 1] = self.initial_accumulator(name)
        self.done, self.curve = 0, Curve()  # `done`: positions trained on, in all epochs
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

    def run(self) -> None:
        """Train to the end, from the checkpoint if there is one."""
        self.resume()
        saved = time.monotonic()
        with Progress(POSITIONS, self.total, self.done, REPORT_SECONDS) as progress:
            for epoch, positions in self.blocks():
                loss = self.learn(positions, self.rates(epoch)) / len(positions)
                self.done += len(positions)
                due = time.monotonic() - saved > 60 * self.plan.checkpoint_minutes
                if due or self.done % self.file.count == 0:
                    add_point(self.folder, self.curve, self.point(epoch))
                    self.save()
                    saved = time.monotonic()
                progress.add(len(positions), note=f"squared error {loss:.5f}")

    def rates(self, epoch: int) -> list[float]:
        """Return the learning rates of the next block; they decay by epoch, and linearly within the last one."""
        factor = self.plan.rate_decay**epoch
        if epoch == self.plan.epochs - 1:
            factor *= 1 - (1 - self.plan.last_decay) * (self.done % self.file.count) / self.file.count
        return [rate * factor for rate in self.plan.rates]

    def learn(self, positions: Positions, rates: list[float]) -> float:
        """Train on one block, each thread on its shard of every position. Return the squared error."""
        arguments = (positions, rates, self.plan.score_scale, self.plan.result_share)
        if self.plan.threads == 1:
            return self.trainer.learn(*arguments)
        rendezvous = Rendezvous()
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(self.trainer.learn_shard, shard, rendezvous, *arguments) for shard in (0, 1)]
            return [job.result() for job in jobs].pop()

    def point(self, epoch: int) -> dict[str, float]:
        """Return a point of the curve."""
        done = {"epoch": epoch + 1.0, "positions": float(self.done)}
        return done | measure(self.trainer, self.held_out, self.plan)

    def save(self) -> None:
        """Write the changed parameters and the progress, from which the run continues bit for bit."""
        arrays: dict[str, Any] = {"_positions": self.done}
        for name in self.trainer.terms:
            parameters = self.trainer.parameters(name)
            initial = np.float32(self.initial_accumulator(name))
            indices = np.flatnonzero((parameters[:, 1] != initial) | (parameters[:, 0] != 0))
            arrays |= {name: parameters[indices], f"{name}_indices": indices.astype(np.uint32)}
        save_checkpoint(self.folder, self.identity, self.curve, arrays)

    def resume(self) -> None:
        """Load the checkpoint, if there is one. ValueError if it is damaged or of another plan or corpus."""
        with open_checkpoint(self.folder, self.identity) as saved:
            if saved is None:
                return
            arrays, curve = saved
            self.done, self.curve = checked_count(arrays["_positions"], self.total), curve
            for name in self.trainer.terms:
                self.trainer.parameters(name)[arrays[f"{name}_indices"]] = arrays[name]

    def export(self, path: Path, extra: dict[str, Any]) -> int:
        """Quantise and write the weights with their card; return the size of the file."""
        card = {
            "model": self.plan.model,
            "date": time.strftime("%Y-%m-%d"),
            "corpus": self.card,
            "plan": asdict(self.plan),
            "positions_learned": self.done,
            "held_out": self.curve[-1] if self.curve else {},
            **extra,
        }
        with atomic_write(path) as part:
            return save_weights(part, export(self.trainer), card)
