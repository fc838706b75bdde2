"""Training of networks (nn.bin): steps of Adam, figures on held-out games, export with a card.

The recipe: quiet positions mirrored at random, a warm-up and a cosine schedule of the rate, weight decay on the
transformer alone, and quantisation-aware last steps, with weights and activations rounded as in play.
"""

import atexit
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor

from core_ext.board import BLACK
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.network_file import write_network
from usi_engine.evaluation.parts import BONAPIECES, SQUARES
from usi_engine.files import write_json
from usi_engine.learn.corpus.batches import Batches, Mirror
from usi_engine.learn.corpus.chances import Positions, agreement, scores_differ
from usi_engine.learn.nnue.export import CARD_SUFFIX, TEMPO_KEY, active_order, to_file, warm_start
from usi_engine.learn.nnue.inputs import LISTED, PLY, Expander, Inputs, compact
from usi_engine.learn.nnue.model import STEP_SIZES, TRANSFORMER, initialised
from usi_engine.learn.settings import TrainNetwork
from usi_engine.learn.training import Curve, TrainingRun
from usi_engine.usi.options import FV_SCALE


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together. Each takes its part of every batch."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its sum over the processes."""
        if self.count > 1:
            for tensor in tensors:
                dist.all_reduce(tensor)

    def wait(self) -> None:
        """Wait for all processes, as after the first has written a file."""
        if self.count > 1:
            dist.barrier()


class Recorded:
    """A step of fixed shapes that a GPU repeats from a recording (CUDA graph).

    Without one, a step of hundreds of small operations takes twice as long to launch as to compute.
    """

    def __init__(self, step: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.step, self.first_steps = step, 3  # not recorded: libraries allocate their buffers in them
        self.graph = torch.cuda.CUDAGraph()
        self.given: tuple[Tensor, Tensor] | None = None
        self.result = torch.empty(0)

    def __call__(self, words: Tensor, mirror: Tensor) -> Tensor:
        if self.first_steps:
            self.first_steps -= 1
            return self.step(words, mirror)
        if self.given is None:
            self.given = words.clone(), mirror.clone()
            # Threads that read positions allocate memory meanwhile, which other error modes forbid.
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.result = self.step(*self.given)
        self.given[0].copy_(words)
        self.given[1].copy_(mirror)
        self.graph.replay()
        return self.result.clone()


def first_sentence(error: Exception) -> str:
    """Return the beginning of a message of torch, which may be long."""
    return str(error).partition("\n")[0].partition(". ")[0]


def choose_device(name: str, threads: int) -> str:
    """Return the torch device of this process for `auto` or a name of torch's. ValueError."""
    if threads:
        torch.set_num_threads(threads)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises the latter
        raise ValueError(f"--device {name}: {first_sentence(error)}") from None
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    if name.startswith("cuda"):
        torch.cuda.set_device(name)
        torch.set_float32_matmul_precision("high")  # TF32: exact for the integers of the rounded steps
    return name


def join_ranks(device: str) -> Ranks:
    """Join the processes that torchrun started, if it did."""
    if "WORLD_SIZE" not in os.environ:
        return Ranks()
    if not dist.is_initialized():
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
        atexit.register(dist.destroy_process_group)
    return Ranks(dist.get_rank(), dist.get_world_size())


# ---- the training ----


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


class NetworkTraining(TrainingRun):
    """A training of a network by Adam."""

    settings: TrainNetwork

    def __init__(self, settings: TrainNetwork) -> None:
        super().__init__(settings)
        self.device = choose_device(settings.device, settings.threads)
        self.ranks = join_ranks(self.device)
        self.is_first, self.is_cuda = self.ranks.is_first, self.device.startswith("cuda")
        share = self.ranks.rank, self.ranks.count
        self.batches = Batches(self.file, settings.batch, settings.seed, *share, convert=self.to_device)
        self.epoch_size = self.batches.per_epoch * self.batches.size
        architecture = parse_name(settings.network)
        self.network = initialised(architecture, self.device, settings.seed)
        self.expander = Expander(architecture, self.device)
        if settings.warm_start:
            self.expander.set_progress(*warm_start(self.network, settings.warm_start, settings.seed))
        self.step_sizes = torch.tensor([STEP_SIZES[name] for name in self.network.parameters], device=self.device)
        self.rates = torch.zeros_like(self.step_sizes)
        self.optimizer = self.adam()
        steps = partial(self.step, False), partial(self.step, True)
        self.both = [Recorded(step) for step in steps] if self.is_cuda and self.ranks.count == 1 else steps

    def adam(self) -> torch.optim.Optimizer:
        """Return Adam with a group for each parameter, because their step sizes differ."""
        groups = []
        for (name, value), rate in zip(self.network.parameters.items(), self.rates, strict=True):
            size = STEP_SIZES[name]
            decay = self.settings.decay / size if name in TRANSFORMER else 0.0
            groups.append({"params": [value], "lr": rate, "weight_decay": decay, "eps": self.settings.epsilon / size})
        warnings.filterwarnings("ignore", "This instance was constructed with capturable=True")  # of the first steps
        return torch.optim.AdamW(groups, fused=True, capturable=self.is_cuda)

    def count(self, positions: int) -> int:
        """Return the number of steps for so many positions."""
        return positions // self.batches.size

    def rate(self) -> float:
        done, total, settings = self.count(self.done), self.count(self.total), self.settings
        warm_up = min(max(total // 50, WARM_UP_STEPS), max(total // 4, 1))
        cosine = (1 + math.cos(math.pi * done / total)) / 2
        share = settings.last_rate + (1 - settings.last_rate) * cosine
        return settings.rate * share * min(1.0, (done + 1) / warm_up)

    @property
    def is_rounded(self) -> bool:
        return self.count(self.done) >= round((1 - self.settings.rounded) * self.count(self.total))

    # ---- steps ----

    def steps(self) -> Iterator[tuple[Tensor, int]]:
        """Make the steps that are left."""
        if not self.done:
            self.fit_progress()
        for words, mirror in self.batches.from_batch(self.count(self.done), self.count(self.total)):
            yield self.learn(words, mirror) / self.batches.part, self.batches.size

    def to_device(self, positions: Positions, mirror: Mirror) -> tuple[Tensor, Tensor]:
        """Return the words and mirror bits of positions on the device."""
        found = torch.from_numpy(np.ascontiguousarray(compact(positions))), torch.from_numpy(mirror)
        words, bits = (tensor.pin_memory() if self.is_cuda else tensor for tensor in found)
        return words.to(self.device, non_blocking=True), bits.to(self.device, non_blocking=True).long()

    def learn(self, words: Tensor, mirror: Tensor) -> Tensor:
        """Make one step; return the summed divergence of this process's positions before it."""
        torch.mul(self.step_sizes, self.rate(), out=self.rates)
        self.expander.result_share.fill_(self.result_share)
        return self.both[self.is_rounded](words, mirror)

    def step(self, rounded: bool, words: Tensor, mirror: Tensor) -> Tensor:
        """Make one step at the present rates, with operations of the device alone."""
        self.optimizer.zero_grad()
        loss = self.network.learn(self.expander(words, mirror), rounded, self.batches.size, self.settings.loss_exponent)
        self.ranks.add_up(value.grad for value in self.network.parameters.values())
        self.optimizer.step()
        self.network.keep_in_range()
        return loss

    # ---- figures ----

    def inputs(self, positions: Positions) -> Iterator[Inputs]:
        for at in range(0, len(positions), self.settings.batch):
            part = positions[at : at + self.settings.batch]
            yield self.expander(*self.to_device(part, np.zeros(len(part), np.uint8)))

    def values(self, positions: Positions, rounded: bool) -> npt.NDArray[np.float64]:
        """Return centipawns for Black."""
        parts = [self.network.values(inputs, rounded).cpu().numpy() for inputs in self.inputs(positions)]
        found = np.concatenate(parts).astype(np.float64) / FV_SCALE
        return np.where(positions["side"] == BLACK, found, -found)

    def agreement(self, rounded: bool) -> dict[str, float]:
        """Return `agreement` on the held-out positions, as for the KPP model."""
        if not len(self.held_out):
            return {}
        return agreement(self.values(self.held_out, rounded), self.held_out, self.settings.results[-1])

    def figures(self) -> dict[str, float]:
        """Return the figures of the float weights and of the rounded ones."""
        found = self.agreement(rounded=False)
        if scores_differ(self.held_out) and "correlation" not in found:
            print("the network gives every position the same value: its units have died", flush=True)
        return found | {f"rounded_{name}": value for name, value in self.agreement(rounded=True).items()}

    # ---- checkpoint ----

    def arrays(self) -> dict[str, Any]:
        """Return weights, Adam's moments and the weights of progress."""
        found: dict[str, Any] = {}
        for name, value in self.network.parameters.items():
            state = self.optimizer.state[value]
            for suffix, tensor in (("", value), ("_m", state["exp_avg"]), ("_v", state["exp_avg_sq"])):
                found[name + suffix] = tensor.detach().cpu().numpy()
        found["_progress_bias"], found["_progress"] = read_progress(self.expander)
        return found

    def restore(self, arrays: Any) -> None:
        for name, value in self.network.parameters.items():
            given = [torch.from_numpy(arrays[name + suffix]).to(self.device) for suffix in ("", "_m", "_v")]
            with torch.no_grad():
                value.copy_(given[0])
            step = torch.tensor(float(self.count(self.done)), device=self.device)
            self.optimizer.state[value] = {"step": step, "exp_avg": given[1], "exp_avg_sq": given[2]}
        self.expander.set_progress(int(arrays["_progress_bias"]), arrays["_progress"])

    def fit_progress(self) -> None:
        """Fit the weights that select the stack by progress, if the network has them and did not bring them."""
        if self.network.architecture.progress and not self.settings.warm_start:
            steps = min(PROGRESS_STEPS, self.count(self.total))
            fit_progress(self.expander, self.batches.from_batch(0, steps), steps, self.ranks)

    # ---- export ----

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "fv_scale": FV_SCALE, TEMPO_KEY: self.settings.tempo}

    def write(self, path: Path) -> int:
        """Write nn.bin, without the tempo and with active units first."""
        architecture = self.network.architecture
        sample = next(self.inputs(self.held_out[:SAMPLE]), None)
        order = active_order(architecture, None if sample is None else self.network.sums(sample, True))
        progress = read_progress(self.expander) if architecture.progress else None
        return write_network(path, to_file(self.network, order, self.settings.tempo, progress))

    def export(self, path: Path) -> dict[str, Any]:
        """Write the network, its card and its curve."""
        found = super().export(path)
        write_json(path.with_suffix(CARD_SUFFIX), self.describe())
        draw_curve(self.curve, path.with_suffix(".png"), self.settings.network)
        return found


def draw_curve(curve: Curve, path: Path, title: str) -> None:
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


def train_network(settings: TrainNetwork) -> dict[str, Any]:
    """Train a network and write it; return what `export` does, nothing in all processes but the first."""
    try:
        training = NetworkTraining(settings)
        training.run()
        found = training.export(settings.out) if training.is_first else {}
        training.ranks.wait()
    except RuntimeError as error:  # of torch: too little memory, or an operation that the device lacks
        raise ValueError(f"torch: {first_sentence(error)}") from None
    return found
