"""Corpus to weights: passes over the positions, progress, checkpoints, figures on held-out games, export."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.board import BLACK, WHITE
from core_ext.records import NO_RESULT, NO_SCORE, RECORD
from core_ext.training import LOGIT, SIZES, Meeting, Trainer, king_zones
from usi_engine.learn.corpus import CARD, HELD_OUT, TRAINING, Records
from usi_engine.learn.export import export
from usi_engine.learn.start import begin_with
from usi_engine.weights import read_folded, save_weights

BLOCK = 1 << 14
SORTED = 1 << 12  # so many at a time; the more, the faster, and the less like chance
TOLD_SECONDS = 2.0
CHECKPOINT, CURVE = "checkpoint.npz", "curve.json"
WARY = ("pp", "kkp", "kpp", "pp_turn", "relative_pp", "relative_pp_turn")  # terms whose weights are mostly seen seldom
# Models of growing size, as the tables of docs/learning.md compare them.
MODELS = {
    "P": ("piece",),
    "KP": ("piece", "tempo", "kp", "relative"),
    "PP": ("piece", "tempo", "kp", "relative", "pp", "relative_pp"),
    "KPP": ("piece", "tempo", "kp", "relative", "pp", "relative_pp", "kkp", "kpp"),
    "KPPT": tuple(SIZES),
}


@dataclass(frozen=True)
class Plan:
    """How to train.

    Steps: of pieces, king-piece, king-king-piece, pair, pair by king zone, triple, pair of the turn, relative pair,
    relative pair of the turn.
    """

    model: str = "KPPT"
    passes: int = 3
    steps: tuple[float, ...] = (0.02, 0.02, 0.003, 0.009, 0.003, 0.0008, 0.001, 0.006, 0.002)
    decay: float = 0.6  # of the steps, from pass to pass
    last: float = 0.1  # to what share the steps fall during the last pass
    caution: float = 0.4  # squared gradients that a weight of WARY begins with: so rare ones move little
    score_scale: float = 600.0
    result_share: float = 0.0  # results of single games are learned by heart: 0.2 of them cost 79 Elo
    threads: int = 1  # or 2, with the same weights
    positions: int = 0  # 0: all
    start: str = ""  # weights that learning goes on from, as an EvalFile names them
    known: float = 0.0  # squared gradients that all other weights begin with
    checkpoint_minutes: float = 10.0

    @property
    def outcome(self) -> dict[str, Any]:
        """All that the weights depend on."""
        return {name: value for name, value in asdict(self).items() if name not in ("threads", "checkpoint_minutes")}


def going_on(plan: Plan, start: str) -> Plan:
    """The same from weights that are sure of themselves: as if millions of positions had taught them already."""
    return replace(plan, start=start, caution=3e4, known=1e6)


ZONE = king_zones()


def side_by_side(records: Records) -> Records:
    """The same, SORTED at a time by the zones of their kings: what was learned last lies in the caches still."""
    zones = ZONE[records["king"]]
    return np.array(records[np.lexsort((zones[:, WHITE], zones[:, BLACK], np.arange(len(records)) // SORTED))])


@dataclass
class State:
    """How far the training has come."""

    done: int = 0  # positions of all passes
    curve: list[dict[str, float]] = field(default_factory=list)


def sigmoid(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """1 / (1 + exp(-x))"""
    return 1.0 / (1.0 + np.exp(-np.asarray(values, np.float64)))


def targets(records: Records, plan: Plan) -> npt.NDArray[np.float64]:
    """The chance of Black to win that the model learns."""
    result = (records["result"] + 1.0) / 2
    searched = sigmoid(records["score"] / plan.score_scale)
    share = np.where(records["result"] == NO_RESULT, 0.0, plan.result_share)
    return np.where(records["score"] == NO_SCORE, result, (1 - share) * searched + share * result)


def divergence(chance: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> float:
    """Mean Kullback-Leibler divergence of the model's chances from the targets, in nats."""
    p, t = np.clip(chance, 1e-9, 1 - 1e-9), np.clip(target, 1e-9, 1 - 1e-9)
    return float((t * np.log(t / p) + (1 - t) * np.log((1 - t) / (1 - p))).mean())


def measure(trainer: Trainer, records: Records, plan: Plan) -> dict[str, float]:
    """Divergence from the targets and correlation with the search's chances on positions not learned from."""
    if not len(records):
        return {}
    chance = sigmoid(trainer.values(records) * (LOGIT / plan.score_scale))
    scored = records["score"] != NO_SCORE
    found = {"divergence": divergence(chance, targets(records, plan))}
    if scored.sum() > 1 and chance[scored].std() > 0:
        searched = sigmoid(records["score"][scored] / plan.score_scale)
        found["correlation"] = float(np.corrcoef(chance[scored], searched)[0, 1])
    return found


class Training:
    """A training run in a folder: the corpus beside its checkpoint and curve."""

    def __init__(self, corpus: Path, folder: Path, plan: Plan) -> None:
        self.plan, self.folder = plan, folder
        self.card = json.loads((corpus / CARD).read_text(encoding="utf-8"))
        self.records: Records = np.memmap(corpus / TRAINING, dtype=RECORD, mode="r")
        self.records = self.records[: plan.positions or None]
        self.held_out: Records = np.fromfile(corpus / HELD_OUT, dtype=RECORD)
        self.trainer = Trainer(MODELS[plan.model])
        if plan.start:
            begin_with(self.trainer, read_folded(plan.start))
        for name in self.trainer.terms:
            self.trainer.cells(name)[:, 1] = self.caution(name)
        self.state = State()
        folder.mkdir(parents=True, exist_ok=True)

    def caution(self, name: str) -> float:
        """Squared gradients that the weights of a term begin with."""
        return self.plan.caution if name in WARY else self.plan.known

    @property
    def total(self) -> int:
        """Positions of all passes."""
        return self.plan.passes * len(self.records)

    def blocks(self) -> Iterator[tuple[int, Records]]:
        """(pass, records) from where the state says to the end."""
        while self.state.done < self.total:
            number, at = divmod(self.state.done, len(self.records))
            yield number, side_by_side(self.records[at : at + BLOCK])

    def run(self) -> None:
        """Train to the end, from a checkpoint where there is one."""
        self.resume()
        started = saved = told = time.monotonic()
        begun_at, loss = self.state.done, 0.0
        for number, records in self.blocks():
            loss = self.learn(records, self.steps(number)) / len(records)
            self.state.done += len(records)
            if self.state.done % len(self.records) == 0 or time.monotonic() - saved > 60 * self.plan.checkpoint_minutes:
                self.measure(number)
                self.save()
                saved = time.monotonic()
            if time.monotonic() - told > TOLD_SECONDS or self.state.done == self.total:
                told = time.monotonic()
                self.report(started, begun_at, loss)

    def steps(self, number: int) -> list[float]:
        """Of the block to come, in pass `number`: smaller from pass to pass, and to the end of the last one."""
        share = self.plan.decay**number
        if number == self.plan.passes - 1:
            share *= 1 - (1 - self.plan.last) * (self.state.done % len(self.records)) / len(self.records)
        return [step * share for step in self.plan.steps]

    def learn(self, records: Records, steps: list[float]) -> float:
        """One block, by one thread or by two that share each position."""
        chosen = (records, steps, self.plan.score_scale, self.plan.result_share)
        if self.plan.threads == 1:
            return self.trainer.learn(*chosen)
        meeting = Meeting()
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(self.trainer.learn_part, part, meeting, *chosen) for part in (0, 1)]
            return [job.result() for job in jobs].pop()

    def measure(self, number: int) -> None:
        """A point of the curve."""
        point = {
            "pass": float(number),
            "positions": float(self.state.done),
            **measure(self.trainer, self.held_out, self.plan),
        }
        self.state.curve.append(point)
        (self.folder / CURVE).write_text(json.dumps(self.state.curve, indent=1) + "\n", encoding="utf-8")
        print(
            ", ".join(f"{name} {value:.4f}" if value < 10 else f"{name} {value:.0f}" for name, value in point.items()),
            flush=True,
        )

    def report(self, started: float, begun_at: int, loss: float) -> None:
        """One line of progress with the time left."""
        seconds = time.monotonic() - started
        speed = (self.state.done - begun_at) / max(seconds, 1e-3)
        left = (self.total - self.state.done) / max(speed, 1e-3)
        print(
            f"{self.state.done}/{self.total} positions, {speed:.0f} a second, squared error {loss:.5f}, "
            f"{left / 60:.1f} min left",
            flush=True,
        )

    def save(self) -> None:
        """All that continues the run as if it had not stopped: the weights that have moved, and how far it has come.

        An old checkpoint is replaced only by a whole one.
        """
        spare = self.folder / ("new-" + CHECKPOINT)
        arrays: dict[str, Any] = {}
        for name in self.trainer.terms:
            cells = self.trainer.cells(name)
            places = np.flatnonzero((cells[:, 1] != np.float32(self.caution(name))) | (cells[:, 0] != 0))
            arrays |= {name: cells[places], f"{name}_places": places.astype(np.uint32)}
        arrays |= {"_plan": json.dumps(self.plan.outcome), "_curve": json.dumps(self.state.curve)}
        arrays["_done"] = self.state.done
        np.savez(spare, **arrays)
        spare.replace(self.folder / CHECKPOINT)

    def resume(self) -> None:
        """Take up the checkpoint, if there is one of the same plan. ValueError where it is of another."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return
        with np.load(path) as saved:
            if json.loads(str(saved["_plan"])) != json.loads(json.dumps(self.plan.outcome)):
                raise ValueError(f"{path} belongs to another plan; choose another folder or remove it")
            self.state = State(int(saved["_done"]), json.loads(str(saved["_curve"])))
            for name in self.trainer.terms:
                self.trainer.cells(name)[saved[f"{name}_places"]] = saved[name]

    def export(self, path: Path, extra: dict[str, Any]) -> int:
        """Quantise and write the weights with their card; returns the size of the file."""
        card = {
            "model": self.plan.model,
            "date": time.strftime("%Y-%m-%d"),
            "corpus": self.card,
            "plan": asdict(self.plan),
            "positions_learned": self.state.done,
            "held_out": self.state.curve[-1] if self.state.curve else {},
            **extra,
        }
        return save_weights(path, export(self.trainer), card)
