"""Training of networks (nn.bin): steps of Adam, checkpoints, figures on held-out games, export with a card.

The recipe: K+P or HalfKP features, quiet positions mirrored at random, a warm-up and a cosine schedule of the rate,
weight decay on the transformer alone, and quantisation-aware last steps, with weights rounded as in the file.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.board import BLACK
from core_ext.engine import BONAPIECES
from core_ext.network_training import STEP_PHASES, VALUE_PHASES, NetworkTrainer
from usi_engine.evaluation.load import packaged_network
from usi_engine.evaluation.names import INTERNAL
from usi_engine.evaluation.network_file import Architecture, NetworkFile, check_sizes, read_network, write_network
from usi_engine.learn.checkpoint import CORPUS, Curve, checked_count, open_checkpoint, save_checkpoint, write_curve
from usi_engine.learn.corpus.batches import Batches
from usi_engine.learn.corpus.build import HELD_OUT, Positions
from usi_engine.learn.corpus.files import PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.files import atomic_write
from usi_engine.learn.kpp.train import Plan, agreement, scores_differ, sigmoid
from usi_engine.learn.nnue.half_kp import rounded_rows, set_rows
from usi_engine.learn.nnue.network_card import CARD_SUFFIX, TEMPO_KEY, tempo_left_out
from usi_engine.learn.nnue.unit_order import activity, in_order
from usi_engine.learn.nnue.widen import widened
from usi_engine.progress import Progress
from usi_engine.records.files import write_text
from usi_engine.usi.options import FV_SCALE

SIZES = "256x2-32-32"  # by default
K_P, HALF_KP = "K+P", "HalfKP"
REPORT_SECONDS = 2.0
ACTIVE_FEATURES = 40
TRANSFORMER_UNIT, HIDDEN_UNIT = 127, 64  # integers of the file for 1.0 in the float model
WARM_UP_STEPS = 300
WARM_START_RATE = 8e-4
# Scores include the value of the right to move; pruning margins and quiescence need values without it. Chosen by
# games (docs/findings.md).
TEMPO = 120


@dataclass(frozen=True)
class NetworkPlan:
    """Settings of a training run. Rates are those of Adam for weights in natural units."""

    features: str = K_P  # or HALF_KP
    width: int = 256
    hidden1: int = 32
    hidden2: int = 32
    epochs: int = 10
    batch: int = 4096
    rate: float = 4e-3  # the highest
    last_rate: float = 0.01  # share of the rate at the end
    decay: float = 0.3  # of the transformer's weights, times the rate
    epsilon: float = 1e-8  # of Adam; larger values slow down weights with small gradients
    rounded: float = 0.3  # last share of the steps, with rounded weights in the forward pass
    score_scale: float = 600.0
    result_share: float = 0.0
    tempo: int = TEMPO  # centipawns for the right to move, left out of the exported network's values
    seed: int = 1
    positions: int = 0  # 0: all
    warm_start: str = ""  # a network to start from, as an EvalFile names it; a narrower one is widened
    threads: int = 1  # the weights are the same with any number
    checkpoint_minutes: float = 10.0

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that the weights depend on."""
        return {name: value for name, value in asdict(self).items() if name not in ("threads", "checkpoint_minutes")}


def initialise(trainer: NetworkTrainer, plan: NetworkPlan) -> None:
    random = np.random.default_rng(plan.seed)
    blocks = trainer.blocks(trainer.weights)
    rows = blocks["transformer"][
        :, : BONAPIECES if plan.features == HALF_KP else -1
    ]  # HalfKP: the rows that kings share
    rows[:] = random.normal(0, TRANSFORMER_UNIT * 0.1 / math.sqrt(ACTIVE_FEATURES), rows.shape)
    blocks["transformer"][:, -1] = TRANSFORMER_UNIT / 2
    sizes = (2 * plan.width, plan.hidden1, plan.hidden2)
    for number in (1, 2):
        inputs, outputs = sizes[number - 1], sizes[number]
        weights = random.normal(0, HIDDEN_UNIT / math.sqrt(inputs), (inputs, outputs))
        blocks[f"weights{number}"][:inputs, :outputs] = weights
        blocks[f"biases{number}"][:outputs] = TRANSFORMER_UNIT * (HIDDEN_UNIT - weights.sum(axis=0)) / 2
    trainer.refresh(rounded=False)


def rounded_network(trainer: NetworkTrainer) -> NetworkFile:
    blocks = trainer.blocks(np.rint(trainer.weights))
    tiles = blocks["transformer"].astype(np.int16)
    rows = tiles.transpose(1, 0, 2).reshape(tiles.shape[1], -1)
    weights = rounded_rows(trainer) if trainer.features == HALF_KP else rows[:-1].copy()
    sizes = (2 * trainer.width, trainer.hidden1, trainer.hidden2, 1)
    layers = []
    for number, outputs in enumerate(sizes[1:], 1):
        dense = np.ascontiguousarray(blocks[f"weights{number}"][:, :outputs].T.astype(np.int8))
        layers.append((blocks[f"biases{number}"][:outputs].astype(np.int32), dense))
    return NetworkFile(architecture_of(trainer), "", rows[-1].copy(), weights, layers)


def shifted(network: NetworkFile, centipawns: int) -> NetworkFile:
    bias, weight = network.layers[-1]
    return replace(network, layers=[*network.layers[:-1], (np.asarray(bias) + FV_SCALE * centipawns, weight)])


def architecture_of(trainer: NetworkTrainer) -> Architecture:
    return Architecture(trainer.features, trainer.width, trainer.hidden1, trainer.hidden2)


def set_network(trainer: NetworkTrainer, network: NetworkFile) -> None:
    """Set the weights to those of a file. ValueError if its sizes differ."""
    expected = architecture_of(trainer)
    if network.architecture != expected:
        raise ValueError(f"cannot start from a network of {network.architecture}: {expected} expected")
    blocks = trainer.blocks(trainer.weights)
    weights = np.asarray(network.ft_weight)
    tiles = blocks["transformer"]
    tiles[:, -1] = np.asarray(network.ft_bias).reshape(len(tiles), -1)
    if trainer.features == HALF_KP:
        set_rows(trainer, weights)
    else:
        tiles[:, :-1] = weights.reshape(-1, len(tiles), tiles.shape[2]).transpose(1, 0, 2)
    for number, (bias, weight) in enumerate(network.layers, 1):
        blocks[f"weights{number}"][:, : len(bias)] = np.asarray(weight).T
        blocks[f"biases{number}"][: len(bias)] = np.asarray(bias)
    trainer.refresh(rounded=False)


def network_path(name: str) -> str | Path:
    """Return the file or folder of a network that is named as in EvalFile."""
    return packaged_network() if name == INTERNAL else name


def with_tempo(name: str) -> NetworkFile:
    """Read a network and add the tempo to its values, as in scores. ValueError, OSError, WeightsError."""
    path = network_path(name)
    return shifted(read_network(path), tempo_left_out(path))


def values_of(
    trainer: NetworkTrainer, positions: Positions, batch: int, work: Callable[[tuple[int, ...]], None]
) -> npt.NDArray[np.float64]:
    """Return centipawns for Black by the current weights; `work` runs phases of a batch."""
    found = np.empty(len(positions))
    for at in range(0, len(positions), batch):
        part = positions[at : at + batch]
        trainer.begin(part, NetworkPlan.score_scale)
        work(VALUE_PHASES)
        found[at : at + len(part)] = trainer.outputs() / FV_SCALE
    return np.where(positions["side"] == BLACK, found, -found)


@dataclass
class State:
    """Progress of the training."""

    step: int = 0
    curve: Curve = field(default_factory=list)


class NetworkTraining:
    """A training run in a folder with its checkpoint and curve."""

    def __init__(self, corpus: Path, folder: Path, plan: NetworkPlan) -> None:
        self.plan, self.folder = plan, folder
        self.card = load_card(corpus)
        self.identity = plan.identity | {CORPUS: fingerprint(corpus)}
        self.held_out = PositionFile(corpus / HELD_OUT).read()
        self.batches = Batches(training_file(corpus, plan.positions), plan.batch, plan.seed)
        sizes = (plan.width, plan.hidden1, plan.hidden2, plan.batch, plan.threads)
        self.trainer = NetworkTrainer(*sizes, features=plan.features, fv_scale=FV_SCALE)
        initialise(self.trainer, plan)
        if plan.warm_start:
            set_network(self.trainer, widened(with_tempo(plan.warm_start), plan.width, plan.seed))
        self.pool = ThreadPoolExecutor(plan.threads)
        self.state = State()
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def total(self) -> int:
        return self.plan.epochs * self.batches.per_epoch

    def rate(self) -> float:
        warm_up = min(max(self.total // 50, WARM_UP_STEPS), max(self.total // 4, 1))
        cosine = (1 + math.cos(math.pi * self.state.step / self.total)) / 2
        share = self.plan.last_rate + (1 - self.plan.last_rate) * cosine
        return self.plan.rate * share * min(1.0, (self.state.step + 1) / warm_up)

    @property
    def is_rounded(self) -> bool:
        return self.state.step >= round((1 - self.plan.rounded) * self.total)

    def run(self) -> None:
        """Train to the end, from the checkpoint if there is one."""
        self.resume()
        saved, losses = time.monotonic(), [0.0, 0.0]  # their sum and number since the last line
        progress = Progress("steps", self.total - self.state.step, self.state.step, REPORT_SECONDS)
        for positions in self.batches.from_batch(self.state.step, self.total):
            losses = [losses[0] + self.learn(positions), losses[1] + 1]
            self.state.step += 1
            if progress.add(1, len(positions), f"divergence {losses[0] / losses[1]:.5f}"):
                losses = [0.0, 0.0]
            epoch_ends = self.state.step % self.batches.per_epoch == 0
            if epoch_ends:
                self.measure()
            if epoch_ends or time.monotonic() - saved > 60 * self.plan.checkpoint_minutes:
                self.save()
                saved = time.monotonic()

    def work(self, phases: tuple[int, ...]) -> None:
        for phase in phases:
            jobs = [self.pool.submit(self.trainer.work, phase, thread) for thread in range(1, self.plan.threads)]
            self.trainer.work(phase, 0)
            for job in jobs:
                job.result()

    def learn(self, positions: Positions) -> float:
        """Make one step; return the loss before it."""
        if self.trainer.rounded != self.is_rounded:
            self.trainer.refresh(self.is_rounded)
        step = self.state.step + 1
        self.trainer.begin(positions, self.plan.score_scale, self.plan.result_share, self.plan.seed << 32 | step)
        self.trainer.set_step(step, self.rate(), self.plan.decay, self.plan.epsilon)
        self.work(STEP_PHASES)
        return self.trainer.loss

    def values(self, positions: Positions) -> npt.NDArray[np.float64]:
        return values_of(self.trainer, positions, self.plan.batch, self.work)

    def held_out_figures(self, rounded: bool) -> dict[str, float]:
        """Return `agreement` on the held-out positions, as for the KPP model."""
        if not len(self.held_out):
            return {}
        self.trainer.refresh(rounded)
        win = sigmoid(self.values(self.held_out) / self.plan.score_scale)
        plan = Plan(score_scale=self.plan.score_scale, result_share=self.plan.result_share)
        return agreement(win, self.held_out, plan)

    def unit_activity(self) -> npt.NDArray[np.float64]:
        """Return the share of held-out positions in which each unit of the first layer is active when rounded."""
        self.trainer.refresh(rounded=True)
        self.trainer.begin(self.held_out[: self.plan.batch], self.plan.score_scale)
        self.work(VALUE_PHASES)
        self.trainer.refresh(self.is_rounded)
        return activity(self.trainer.sums())

    def measure(self) -> None:
        """Add a point to the curve: the figures of the float weights and of the rounded ones."""
        point = {"epoch": float(self.state.step // self.batches.per_epoch), **self.held_out_figures(rounded=False)}
        point |= {f"rounded_{name}": value for name, value in self.held_out_figures(rounded=True).items()}
        self.trainer.refresh(self.is_rounded)
        self.state.curve.append(point)
        write_curve(self.folder, self.state.curve)
        print(", ".join(f"{name} {value:.4g}" for name, value in point.items()), flush=True)
        if scores_differ(self.held_out) and "correlation" not in point:
            print("the network gives every position the same value: its units have died", flush=True)

    def save(self) -> None:
        """Write weights, Adam's moments and progress, from which the run continues bit for bit."""
        arrays = {"_step": self.state.step, **self.trainer.state()}
        save_checkpoint(self.folder, self.identity, self.state.curve, arrays)

    def resume(self) -> None:
        """Load the checkpoint, if there is one. ValueError if it is damaged or of another plan or corpus."""
        with open_checkpoint(self.folder, self.identity) as saved:
            if saved is None:
                return
            arrays, curve = saved
            self.state = State(checked_count(arrays["_step"], self.total), curve)
            self.trainer.set_state(arrays)
        self.trainer.refresh(self.is_rounded)

    def export(self, path: Path, extra: dict[str, Any]) -> int:
        """Write nn.bin, without the tempo and with active units first, and its card; return the size of nn.bin."""
        network = shifted(rounded_network(self.trainer), -self.plan.tempo)
        if len(self.held_out):
            network = in_order(network, self.unit_activity())
        card = {
            "model": str(network.architecture),
            "fv_scale": FV_SCALE,
            "date": time.strftime("%Y-%m-%d"),
            "corpus": self.card,
            "plan": asdict(self.plan),
            TEMPO_KEY: self.plan.tempo,
            "positions_learned": self.state.step * self.batches.size,
            "held_out": self.state.curve[-1] if self.state.curve else {},
            **extra,
        }
        with atomic_write(path) as part:
            size = write_network(part, network)
        write_text(path.with_suffix(CARD_SUFFIX), json.dumps(card, indent=1) + "\n")
        return size


def parse_sizes(text: str) -> tuple[int, int, int]:
    """Parse sizes such as `256x2-32-32`: width and hidden units. ValueError, also for sizes that play refuses."""
    match = re.fullmatch(r"(\d{1,4})x2-(\d{1,4})-(\d{1,4})", text)
    if match is None:
        raise ValueError(f"--network {text}: expected sizes such as {SIZES}")
    sizes = int(match[1]), int(match[2]), int(match[3])
    try:
        check_sizes(Architecture(K_P, *sizes))
    except ValueError as error:
        raise ValueError(f"--network {text}: {error}") from None
    return sizes


def train_nnue(chosen: argparse.Namespace) -> None:
    """Run `usi_engine learn train --model nnue`. OSError, ValueError, WeightsError."""
    width, hidden1, hidden2 = parse_sizes(chosen.network)
    plan = NetworkPlan(
        features=chosen.features,
        width=width,
        hidden1=hidden1,
        hidden2=hidden2,
        epochs=chosen.epochs or NetworkPlan.epochs,
        threads=chosen.threads,
        positions=chosen.positions,
        result_share=chosen.results,
        tempo=chosen.tempo,
        warm_start=chosen.warm_start,
        decay=chosen.decay,
        rate=chosen.rate or (WARM_START_RATE if chosen.warm_start else NetworkPlan.rate),
    )
    training = NetworkTraining(chosen.corpus, chosen.out.with_name(chosen.out.name + ".run"), plan)
    training.run()
    size = training.export(chosen.out, {"note": chosen.note} if chosen.note else {})
    print(f"{chosen.out}: {size / 1e6:.1f} MB; to play with it: setoption name EvalFile value {chosen.out.resolve()}")
