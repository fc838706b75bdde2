"""Training of networks (nn.bin): steps of Adam, checkpoints, figures on held-out games, export with a card.

The recipe: quiet positions mirrored at random, a warm-up and a cosine schedule of the rate, weight decay on the
transformer alone, and quantisation-aware last steps, with weights and activations rounded as in play.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from core_ext.board import BLACK
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.network_file import write_network
from usi_engine.evaluation.parts import BONAPIECES, SQUARES
from usi_engine.files import atomic_write, make_folder, write_json
from usi_engine.learn import checkpoint
from usi_engine.learn.corpus.batches import Batches, Mirror, PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.corpus.chances import Positions, agreement, scores_differ
from usi_engine.learn.files import HELD_OUT
from usi_engine.learn.nnue.device import Ranks, Recorded, choose_device, join_ranks
from usi_engine.learn.nnue.export import active_order, to_file, warm_start
from usi_engine.learn.nnue.inputs import LISTED, PLY, Expander, Inputs, compact
from usi_engine.learn.nnue.model import STEP_SIZES, TRANSFORMER, initialised
from usi_engine.learn.nnue.plan import CARD_SUFFIX, TEMPO_KEY, NetworkPlan
from usi_engine.progress import Progress
from usi_engine.usi.options import FV_SCALE

REPORT_SECONDS = 2.0
REPORT_STEPS = 16  # between readings of the loss, which wait for the device
WARM_UP_STEPS = 300
PROGRESS_STEPS = 400
PROGRESS_UNIT = 65536  # of a logit
PROGRESS_RATE, LAST_PROGRESS_RATE = 0.02, 0.001
SAMPLE = 8192  # held-out positions from which the units' order is found


def fit_progress(expander: Expander, batches: Iterable[tuple[Tensor, Tensor]], steps: int, ranks: Ranks) -> None:
    """Fit the weights of progress, by which some networks select the layer stack, to batches of words and mirror bits.

    A position's progress is the share of the corpus's plies that are below its own, so that all stacks are used
    equally. The logit is a sum of weights of own king and piece from both perspectives, each a part of the piece and
    one of the king's square, and is fitted by logistic regression.
    """
    device = expander.starts.device
    pieces, kings = (torch.zeros(size, device=device, requires_grad=True) for size in (BONAPIECES, SQUARES))
    bias = torch.zeros((), device=device, requires_grad=True)
    optimizer = torch.optim.Adam([pieces, kings, bias], lr=PROGRESS_RATE)
    plies: Tensor | None = None
    for step, (words, mirror) in enumerate(batches):
        ply = words[:, PLY].long() & 0xFFFF
        plies = ply.sort()[0] if plies is None else plies
        if plies[len(plies) // 4] == plies[len(plies) * 3 // 4]:
            raise ValueError("half of the positions have the same ply: .hcpe has none; use other stacks than progressN")
        target = torch.searchsorted(plies, ply) / len(plies)
        own, _, numbers = expander.seen(words, expander.sides(words), mirror.expand(2, -1))
        logit = bias + pieces[numbers].sum((0, 2)) + kings[own].sum(0)
        optimizer.param_groups[0]["lr"] = PROGRESS_RATE * (LAST_PROGRESS_RATE / PROGRESS_RATE) ** (step / steps)
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(logit, target).backward()
        ranks.add_up(value.grad for value in (pieces, kings, bias))
        optimizer.step()
        with torch.no_grad():
            pieces[0] = 0  # no piece
    with torch.no_grad():
        weights = ((pieces + kings[:, None] / LISTED) * PROGRESS_UNIT).round().int().cpu().numpy()
        weights[:, 0] = 0
    expander.set_progress(round(bias.item() * PROGRESS_UNIT), weights)


def read_progress(expander: Expander) -> tuple[int, npt.NDArray[np.int32]]:
    """Return bias and weights as in the file."""
    return expander.progress_bias, expander.progress.cpu().numpy().astype(np.int32)


class NetworkTraining:
    """A training run in a folder with its checkpoint and curve."""

    def __init__(self, corpus: Path, folder: Path, plan: NetworkPlan) -> None:
        self.plan, self.folder = plan, folder
        self.device = choose_device(plan.device, plan.threads)
        self.ranks = join_ranks(self.device)
        self.is_cuda = self.device.startswith("cuda")
        self.card = load_card(corpus)
        self.held_out = PositionFile(corpus / HELD_OUT).read()
        file = training_file(corpus, plan.positions)
        self.batches = Batches(file, plan.batch, plan.seed, self.ranks.rank, self.ranks.count, convert=self.to_device)
        architecture = parse_name(plan.network)
        self.network = initialised(architecture, self.device, plan.seed)
        self.expander = Expander(architecture, self.device, plan.result_share)
        if plan.warm_start:
            self.expander.set_progress(*warm_start(self.network, plan.warm_start, plan.seed))
        self.identity = checkpoint.identify(asdict(plan), fingerprint(corpus))
        self.step_sizes = torch.tensor([STEP_SIZES[name] for name in self.network.parameters], device=self.device)
        self.rates = torch.zeros_like(self.step_sizes)
        self.optimizer = self.adam()
        steps = partial(self.step, False), partial(self.step, True)
        self.steps = [Recorded(step) for step in steps] if self.is_cuda and self.ranks.count == 1 else steps
        self.done, self.curve = 0, checkpoint.Curve()  # `done`: steps
        make_folder(folder)

    def adam(self) -> torch.optim.Optimizer:
        """Return Adam with a group for each parameter, because their step sizes differ."""
        groups = []
        for (name, value), rate in zip(self.network.parameters.items(), self.rates, strict=True):
            size = STEP_SIZES[name]
            decay = self.plan.decay / size if name in TRANSFORMER else 0.0
            groups.append({"params": [value], "lr": rate, "weight_decay": decay, "eps": self.plan.epsilon / size})
        warnings.filterwarnings("ignore", "This instance was constructed with capturable=True")  # of the first steps
        return torch.optim.AdamW(groups, fused=True, capturable=self.is_cuda)

    @property
    def total(self) -> int:
        return self.plan.epochs * self.batches.per_epoch

    def rate(self) -> float:
        warm_up = min(max(self.total // 50, WARM_UP_STEPS), max(self.total // 4, 1))
        cosine = (1 + math.cos(math.pi * self.done / self.total)) / 2
        share = self.plan.last_rate + (1 - self.plan.last_rate) * cosine
        return self.plan.rate * share * min(1.0, (self.done + 1) / warm_up)

    @property
    def is_rounded(self) -> bool:
        return self.done >= round((1 - self.plan.rounded) * self.total)

    # ---- run ----

    def run(self, epoch_done: Callable[[int], object] = lambda _: None) -> None:
        """Train to the end, from the checkpoint if there is one. Call `epoch_done` with the number of each epoch."""
        self.resume()
        saved = time.monotonic()
        losses, loss, log = [], 0.0, checkpoint.TrainingLog(self.folder, self.done * self.batches.size)
        shows = self.ranks.is_first
        with Progress("steps", self.total * shows, self.done, REPORT_SECONDS * shows) as progress:
            for words, mirror in self.batches.from_batch(self.done, self.total):
                losses.append(self.learn(words, mirror))
                self.done += 1
                epoch_ends = self.done % self.batches.per_epoch == 0
                if self.done % REPORT_STEPS == 0 or epoch_ends:
                    loss, losses = float(sum(losses)) / len(losses) / self.batches.part, []
                    if shows:
                        log.add(self.done * self.batches.size, loss, self.rate(), epoch_ends)
                progress.add(1, self.batches.size, f"loss {loss:.5f}")
                due = epoch_ends or time.monotonic() - saved > 60 * self.plan.checkpoint_minutes
                if due and shows:
                    if epoch_ends:
                        self.measure()
                    self.save()
                    saved = time.monotonic()
                    if epoch_ends:
                        epoch_done(self.done // self.batches.per_epoch)

    def to_device(self, positions: Positions, mirror: Mirror) -> tuple[Tensor, Tensor]:
        """Return the words and mirror bits of positions on the device."""
        found = torch.from_numpy(np.ascontiguousarray(compact(positions))), torch.from_numpy(mirror)
        words, bits = (tensor.pin_memory() if self.is_cuda else tensor for tensor in found)
        return words.to(self.device, non_blocking=True), bits.to(self.device, non_blocking=True).long()

    def learn(self, words: Tensor, mirror: Tensor) -> Tensor:
        """Make one step; return the summed divergence of this process's positions before it."""
        torch.mul(self.step_sizes, self.rate(), out=self.rates)
        return self.steps[self.is_rounded](words, mirror)

    def step(self, rounded: bool, words: Tensor, mirror: Tensor) -> Tensor:
        """Make one step at the present rates, with operations of the device alone."""
        self.optimizer.zero_grad()
        loss = self.network.learn(self.expander(words, mirror), rounded, self.batches.size, self.plan.loss_exponent)
        self.ranks.add_up(value.grad for value in self.network.parameters.values())
        self.optimizer.step()
        self.network.keep_in_range()
        return loss

    # ---- figures ----

    def inputs(self, positions: Positions) -> Iterator[Inputs]:
        for at in range(0, len(positions), self.plan.batch):
            part = positions[at : at + self.plan.batch]
            yield self.expander(*self.to_device(part, np.zeros(len(part), np.uint8)))

    def values(self, positions: Positions, rounded: bool) -> npt.NDArray[np.float64]:
        """Return centipawns for Black."""
        parts = [self.network.values(inputs, rounded).cpu().numpy() for inputs in self.inputs(positions)]
        found = np.concatenate(parts).astype(np.float64) / FV_SCALE
        return np.where(positions["side"] == BLACK, found, -found)

    def held_out_figures(self, rounded: bool) -> dict[str, float]:
        """Return `agreement` on the held-out positions, as for the KPP model."""
        if not len(self.held_out):
            return {}
        return agreement(self.values(self.held_out, rounded), self.held_out, self.plan.result_share)

    def measure(self) -> None:
        """Add a point to the curve: the figures of the float weights and of the rounded ones."""
        point = {"epoch": float(self.done // self.batches.per_epoch), **self.held_out_figures(rounded=False)}
        point |= {f"rounded_{name}": value for name, value in self.held_out_figures(rounded=True).items()}
        checkpoint.add_point(self.folder, self.curve, point)
        if scores_differ(self.held_out) and "correlation" not in point:
            print("the network gives every position the same value: its units have died", flush=True)

    # ---- checkpoint ----

    def save(self) -> None:
        """Write weights, Adam's moments and progress, from which the run continues bit for bit."""
        arrays: dict[str, Any] = {"_step": self.done}
        for name, value in self.network.parameters.items():
            state = self.optimizer.state[value]
            for suffix, tensor in (("", value), ("_m", state["exp_avg"]), ("_v", state["exp_avg_sq"])):
                arrays[name + suffix] = tensor.detach().cpu().numpy()
        arrays["_progress_bias"], arrays["_progress"] = read_progress(self.expander)
        checkpoint.save_checkpoint(self.folder, self.identity, self.curve, arrays, finished=self.done == self.total)

    def resume(self) -> None:
        """Load the checkpoint. ValueError if it is damaged or of another plan or corpus. Without one, fit progress."""
        with checkpoint.open_checkpoint(self.folder, self.identity) as saved:
            if saved is None:
                self.fit_progress()
                return
            arrays, curve = saved
            self.done, self.curve = checkpoint.checked_count(arrays["_step"], self.total), curve
            for name, value in self.network.parameters.items():
                given = [torch.from_numpy(arrays[name + suffix]).to(self.device) for suffix in ("", "_m", "_v")]
                with torch.no_grad():
                    value.copy_(given[0])
                step = torch.tensor(float(self.done), device=self.device)
                self.optimizer.state[value] = {"step": step, "exp_avg": given[1], "exp_avg_sq": given[2]}
            self.expander.set_progress(int(arrays["_progress_bias"]), arrays["_progress"])

    def fit_progress(self) -> None:
        """Fit the weights that select the stack by progress, if the network has them and did not bring them."""
        if self.network.architecture.progress and not self.plan.warm_start:
            steps = min(PROGRESS_STEPS, self.total)
            fit_progress(self.expander, self.batches.from_batch(0, steps), steps, self.ranks)

    # ---- export ----

    def export(self, path: Path, extra: dict[str, Any]) -> int:
        """Write nn.bin, without the tempo and with active units first, its card and curve; return nn.bin's size."""
        architecture = self.network.architecture
        sample = next(self.inputs(self.held_out[:SAMPLE]), None)
        order = active_order(architecture, None if sample is None else self.network.sums(sample, True))
        progress = read_progress(self.expander) if architecture.progress else None
        learned = self.done * self.batches.size
        card = checkpoint.describe(architecture.name, self.card, asdict(self.plan), learned, self.curve)
        card |= {"fv_scale": FV_SCALE, TEMPO_KEY: self.plan.tempo, **extra}
        with atomic_write(path) as part:
            size = write_network(part, to_file(self.network, order, self.plan.tempo, progress))
        write_json(path.with_suffix(CARD_SUFFIX), card)
        draw_curve(self.curve, path.with_suffix(".png"), architecture.name)
        return size


def draw_curve(curve: checkpoint.Curve, path: Path, title: str) -> None:
    """Draw the divergence on held-out positions by epochs, if matplotlib is installed."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)
    except ImportError:
        print(f"{path} is not drawn without matplotlib")
        return
    axes = (figure := Figure(layout="constrained")).subplots()
    for name in ("divergence", "rounded_divergence"):
        points = [(point["epoch"], point[name]) for point in curve if name in point]
        axes.plot(*zip(*points, strict=True), marker="o", label=name.replace("_", " ")) if points else None
    axes.set(title=title, xlabel="epoch", ylabel="held-out divergence")
    axes.legend() if axes.lines else None  # none were held out
    figure.savefig(path)


def train_network(plan: NetworkPlan, corpus: Path, out: Path, extra: dict[str, Any], keep: int = 0) -> int:
    """Train a network and write it to `out`; return its size, 0 in all processes but the first.

    `extra` is added to its card. `keep`: every keep-th epoch's stays too. OSError, ValueError, WeightsError.
    """
    training = NetworkTraining(corpus, out.with_name(out.name + ".run"), plan)
    training.run(checkpoint.keeping(lambda path: training.export(path, extra), out, keep))
    size = training.export(out, extra) if training.ranks.is_first else 0
    training.ranks.wait()
    return size
