"""A network as PyTorch trains it: weights in the units of nn.bin, its values and their gradients.

The gradient is computed in three parts, so that each takes the way that is fastest on its device: the transformer's
sums of rows (RowSums), the dense layers by autograd, in chunks that fit a cache, and the parts of shared rows by
autograd. Rounding passes the gradient through (straight-through estimator: Y. Bengio and others, 2013,
arXiv:1308.3432).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from usi_engine.evaluation.architecture import Architecture
from usi_engine.learn.nnue.inputs import HAND_END, LISTED, Inputs, offset_rows, offsets
from usi_engine.search.results import CENTIPAWNS
from usi_engine.usi.options import FV_SCALE

# Integers of the file for 1.0: transformer and activations, hidden weights, output.
UNIT, HIDDEN_UNIT, OUTPUT_UNIT = 127.0, 64.0, 9600.0
LARGEST_WEIGHT = 127.0  # of a dense layer
LAYERS = 3
LOGIT = FV_SCALE * CENTIPAWNS  # output for a logit of 1
TRANSFORMER = ("rows", "own", "offsets")  # the parts of its table
CACHED = 1 << 20  # sums of a chunk on a CPU
MANY_STACKS = 128  # whose gradients cost more than a chunk saves
SMALL_TABLE = 4096  # rows up to which a 0/1 matrix is fastest on a GPU, and blocks that fit a cache on a CPU
COLUMNS = 128  # of a block
CACHED_SUMS = 8192  # rows of a block of sums or of their gradients
LONGEST_BAG = 64  # so that the threads share the work evenly: some features are active in every position


# A step of Adam at a rate of 1: the integer of the file that is 1.0; less for own rows, because Adam scales up the
# noise of rare ones, and more for dense layers (docs/findings.md).
OWN_RATE, DENSE_RATE = 0.3, 2.0
STEP_SIZES = {"rows": UNIT, "offsets": UNIT, "bias": UNIT, "own": OWN_RATE * UNIT}
STEP_SIZES |= dict.fromkeys(("weight0", "weight1"), DENSE_RATE * HIDDEN_UNIT)
STEP_SIZES |= dict.fromkeys(("bias0", "bias1"), DENSE_RATE * HIDDEN_UNIT * UNIT)
STEP_SIZES |= {"weight2": DENSE_RATE * OUTPUT_UNIT / UNIT, "bias2": DENSE_RATE * OUTPUT_UNIT}


# ---- sums of rows, on a CPU and on a GPU ----


class RowSums:
    """Sums of the active rows of a batch and the gradient of the table.

    On a GPU a small table is multiplied by a matrix of zeros and ones. On a CPU the gradient is a sum of rows too:
    the bag of a feature lists the places where it is active.
    """

    def __init__(self, features: Tensor, rows: int, kind: str, memory: Tensor) -> None:
        """`memory` takes the sums on a CPU, where new memory for each batch would be slow."""
        self.features, self.rows, self.kind, self.memory = features.flatten(0, 1), rows, kind, memory
        if kind == "matrix":
            self.matrix = torch.zeros((len(self.features), rows), device=features.device)
            self.matrix.scatter_(1, self.features.long(), 1.0)

    def sums(self, table: Tensor) -> Tensor:
        """Return the sums of active rows: [2 n][width]."""
        if self.kind == "matrix":
            return self.matrix @ table
        if self.kind == "gpu":
            self.table = table.detach().requires_grad_()
            self.bags = F.embedding_bag(self.features, self.table, mode="sum")
            return self.bags.detach()
        found = self.memory.resize_(len(self.features), table.shape[1])
        for columns, total in zip(self.columns(table), self.columns(found), strict=True):
            part = columns.contiguous()
            for at in range(0, len(found), CACHED_SUMS):
                places = slice(at, at + CACHED_SUMS)
                total[places] = F.embedding_bag(self.features[places], part, mode="sum")
        return found

    def gradient(self, given: Tensor) -> Tensor:
        """Return the gradient of the table of `sums` from that of the sums."""
        if self.kind == "matrix":
            return self.matrix.T @ given
        if self.kind == "gpu":
            return torch.autograd.grad(self.bags, self.table, given)[0]
        size = CACHED_SUMS if self.rows <= SMALL_TABLE else len(given)
        found = torch.zeros((self.rows, given.shape[1]))
        for features, part in zip(self.features.split(size), given.split(size), strict=True):
            bags = Bags(features, self.rows)
            for total, columns in zip(self.columns(found), self.columns(part), strict=True):
                total.add_(bags.sums(columns.contiguous()))
        return found

    def columns(self, table: Tensor) -> tuple[Tensor, ...]:
        """Return the columns, in parts if the table is small."""
        return tuple(table.split(COLUMNS if self.rows <= SMALL_TABLE else table.shape[1], 1))


class Bags:
    """The places where each feature is active, in bags of at most LONGEST_BAG places."""

    def __init__(self, features: Tensor, rows: int) -> None:
        numbers, order = torch.sort(features.flatten())
        self.places = (order // features.shape[1]).int()
        starts = torch.searchsorted(numbers, torch.arange(rows + 1, dtype=numbers.dtype))
        bags = (starts.diff() + LONGEST_BAG - 1) // LONGEST_BAG
        first = bags.cumsum(0) - bags
        feature = torch.repeat_interleave(torch.arange(rows), bags)
        self.numbers, self.first = torch.arange(len(feature), dtype=torch.int32), first.int()
        self.starts = (starts[feature] + (self.numbers - first[feature]) * LONGEST_BAG).int()

    def sums(self, given: Tensor) -> Tensor:
        """Return the sum of `given` over each feature's places: [rows][columns]."""
        parts = F.embedding_bag(self.places, given, self.starts, mode="sum")
        return F.embedding_bag(self.numbers, parts, self.first, mode="sum")


# ---- the network ----


@dataclass
class Network:
    """The weights of a network on a device and its values.

    The table of a king-relative feature set is a sum of own rows [king][number], rows of the number, shared by all
    kings, and rows of a piece by its offset from the king.
    """

    architecture: Architecture
    device: str
    parameters: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kind = self.architecture.feature_set
        self.offsets = None
        if self.kind.buckets > 1:
            self.offsets = torch.from_numpy(offsets(self.kind)).to(self.device)
        self.mask = shard_mask(self.architecture).to(self.device) if self.architecture.shards > 1 else None
        on_gpu = "matrix" if self.kind.count <= SMALL_TABLE else "gpu"
        self.sums_kind = on_gpu if self.device.startswith("cuda") else "cpu"  # of RowSums: the fastest
        self.memory = torch.empty(0)

    # ---- transformer ----

    def table(self) -> Tensor:
        """Return all rows, not rounded: [features][width]."""
        rows = self.parameters["rows"]
        if self.offsets is None:
            return rows
        shared = torch.cat([rows[:HAND_END].expand(self.kind.buckets, -1, -1), self.by_offset()], 1)
        return (self.parameters["own"] + shared).flatten(0, 1)

    def by_offset(self) -> Tensor:
        """Return the shared part of the rows of pieces on the board."""
        return F.embedding(self.offsets, self.parameters["offsets"]) + self.parameters["rows"][HAND_END:]

    def keep_in_range(self) -> None:
        """Keep the rows of number 0, which stands for no piece, at zero, and dense weights within the file's range."""
        with torch.no_grad():
            self.parameters["rows"][0].zero_()
            if self.offsets is not None:
                self.parameters["own"][:, 0].zero_()
            for layer in range(LAYERS):
                self.parameters[f"weight{layer}"].clamp_(-LARGEST_WEIGHT, LARGEST_WEIGHT)

    # ---- dense layers ----

    def dense(self, rounded: bool) -> dict[str, Tensor]:
        """Return copies of the other weights that collect gradients."""
        found = {}
        for name, value in self.parameters.items():
            if name not in TRANSFORMER:
                copy = value.detach().round() if rounded else value.detach().clone()
                found[name] = copy.requires_grad_()
        return found

    def outputs(self, dense: dict[str, Tensor], sums: Tensor, stacks: Tensor, rounded: bool) -> Tensor:
        """Return the output of the last layer for the transformer's sums [2][n][width], in units of the file.

        The integer form (rounded) equals that of play exactly while no sum exceeds 2^24.
        """
        floor = floored if rounded else unchanged
        hidden1 = self.architecture.hidden1
        if self.architecture.sfnn:
            first, second = F.hardtanh(sums, 0, UNIT).chunk(2, 2)
            sums = floor(first * second * (1 / 128))  # twice the file's sums, / 512
            given = torch.cat([sums[0], sums[1]], 1)
        else:
            given = F.hardtanh(torch.cat([sums[0], sums[1]], 1), 0, UNIT)
        first = self.layer(dense, 0, given.unflatten(0, (len(stacks), -1)), stacks)
        given = capped(floor(first[..., :hidden1] * (1 / HIDDEN_UNIT)).clamp(min=0))
        if self.architecture.sfnn:
            square = first[..., :hidden1].square() * 2.0**-19
            given = torch.cat([capped(floor(square)), given], -1)
        given = capped(floor(self.layer(dense, 1, given, stacks) * (1 / HIDDEN_UNIT)).clamp(min=0))
        output = self.layer(dense, 2, given, stacks)
        if self.architecture.shortcut:
            output = output + first[..., hidden1:]
        return output.flatten()

    def layer(self, dense: dict[str, Tensor], number: int, given: Tensor, stacks: Tensor) -> Tensor:
        """Apply one layer to [blocks][size][inputs]."""
        weight, bias = dense[f"weight{number}"], dense[f"bias{number}"]
        if number == 0 and self.mask is not None:
            weight = weight * self.mask
        if len(weight) > 1:
            weight, bias = weight.index_select(0, stacks), bias.index_select(0, stacks)
        return torch.baddbmm(bias.unsqueeze(1), given, weight.transpose(1, 2))

    # ---- both ----

    def chunk(self, positions: int) -> int:
        """Return the number of positions whose dense layers are computed at a time."""
        if self.sums_kind != "cpu" or self.architecture.stacks > MANY_STACKS:
            return positions
        return max(64, CACHED // (2 * self.architecture.width))

    def sums(self, inputs: Inputs, rounded: bool) -> Tensor:
        """Return the transformer's sums with its biases: [2][n][width]. On a CPU the next call overwrites them."""
        with torch.no_grad():
            table, bias = self.table(), self.parameters["bias"]
            if rounded:
                table, bias = table.round(), bias.round()
            rows = RowSums(inputs.features, self.kind.count, self.sums_kind, self.memory)
            return rows.sums(table).add_(bias).unflatten(0, (2, -1))

    def values(self, inputs: Inputs, rounded: bool) -> Tensor:
        """Return the outputs of a batch in its own order, in units of the file."""
        dense, sums = self.dense(rounded), self.sums(inputs, rounded)
        with torch.no_grad():
            parts = [self.outputs(dense, sums[:, at], stacks, rounded)
                     for at, stacks in inputs.chunks(self.chunk(len(inputs.rows)))]  # fmt: skip
        used = inputs.weight > 0
        found = torch.empty_like(inputs.weight)
        found[inputs.rows[used]] = torch.cat(parts)[used]
        return found[: int(used.sum())]

    def learn(self, inputs: Inputs, rounded: bool, positions: int, exponent: float = 0.0) -> Tensor:
        """Set the gradients of the mean loss over `positions`; return the summed loss of this batch.

        The loss is the cross entropy, whose least value, the targets' own entropy, is left out of what is returned, or
        the error of the winning chance to the power of `exponent`.
        """
        table = self.table()
        rows = table.detach()
        rows = rows.round() if rounded else rows
        places = RowSums(inputs.features, self.kind.count, self.sums_kind, self.memory)
        sums = places.sums(rows).unflatten(0, (2, -1))
        dense, total = self.dense(rounded), torch.zeros((), device=sums.device)
        for at, stacks in inputs.chunks(self.chunk(len(inputs.rows))):
            part = sums[:, at].detach().requires_grad_()
            logit = self.outputs(dense, part + dense["bias"], stacks, rounded) / LOGIT
            loss = summed_loss(logit, inputs.target[at], inputs.weight[at], exponent)
            (loss / positions).backward()
            sums[:, at] = part.grad
            total += loss.detach()
        table.backward(places.gradient(sums.flatten(0, 1)))
        for name, copy in dense.items():
            self.parameters[name].grad = copy.grad
        return total if exponent else total - (entropy(inputs.target) * inputs.weight).sum()


def summed_loss(logit: Tensor, target: Tensor, weight: Tensor, exponent: float) -> Tensor:
    """Return the sum of the errors of the winning chance to the power of `exponent`; 0: the sum of cross entropies."""
    if exponent:
        return ((torch.sigmoid(logit) - target).abs().pow(exponent) * weight).sum()
    return F.binary_cross_entropy_with_logits(logit, target, weight, reduction="sum")


def unchanged(values: Tensor) -> Tensor:
    return values


def floored(values: Tensor) -> Tensor:
    return values + (values.floor() - values).detach()


class _Capped(torch.autograd.Function):  # type: ignore[misc]  # it has no types
    @staticmethod
    def forward(context: Any, values: Tensor) -> Tensor:
        context.save_for_backward(values)
        return values.clamp(max=UNIT)

    @staticmethod
    def backward(context: Any, given: Tensor) -> Tensor:
        (values,) = context.saved_tensors
        return torch.where(values > UNIT, given.clamp(min=0), given)


def capped(values: Tensor) -> Tensor:
    """Return the values, at most UNIT; the gradient still lowers larger ones.

    Otherwise a unit above UNIT in every position would never change again. Early steps throw many units that far.
    """
    return _Capped.apply(values)


def entropy(probability: Tensor) -> Tensor:
    """Return the entropy of an event in nats."""
    return torch.special.entr(probability) + torch.special.entr(1 - probability)


def shard_of_inputs(architecture: Architecture) -> Tensor:
    """Return the part of layer 0 that sees each input, or -1 if all do."""
    size = (architecture.inputs - architecture.common) // architecture.shards
    place = torch.arange(architecture.inputs) - architecture.common
    return place.div(size, rounding_mode="floor").clamp(min=-1)


def shard_mask(architecture: Architecture) -> Tensor:
    """Return 1 for the inputs that each output of layer 0 sees: [outputs][inputs]."""
    shard, outputs = shard_of_inputs(architecture), architecture.hidden1 + architecture.shortcut
    group = torch.arange(outputs) // (outputs // architecture.shards)
    return ((shard < 0) | (shard == group[:, None])).float()


def initialised(architecture: Architecture, device: str, seed: int) -> Network:
    """Return a new network with random weights: units half active, outputs 0."""
    random, network = torch.Generator().manual_seed(seed), Network(architecture, device)
    kind, width = network.kind, architecture.width
    rows = torch.randn((kind.numbers, width), generator=random) * (UNIT * 0.1 / math.sqrt(LISTED + 2 * len(kind.kings)))
    found = {"rows": rows, "bias": torch.full((width,), UNIT / 2)}
    if kind.buckets > 1:
        found |= {
            "own": torch.zeros((kind.buckets, kind.numbers, width)),
            "offsets": torch.zeros((offset_rows(kind), width)),
        }
    first, second = architecture.hidden1, architecture.hidden2
    product = 0.25 if architecture.sfnn else 0.5  # mean of an input, of a square
    means = [torch.full((architecture.inputs,), product), torch.full((first * (1 + architecture.sfnn),), 0.5)]
    means[1][: first * architecture.sfnn] = product
    for number, (mean, outputs) in enumerate(zip(means, (first + architecture.shortcut, second), strict=True)):
        weight = torch.randn((outputs, len(mean)), generator=random)
        weight *= shard_mask(architecture) if number == 0 and architecture.shards > 1 else 1
        weight /= math.sqrt(float((weight != 0).sum()) / outputs)
        bias = 0.5 - weight @ mean
        if number == 0 and architecture.shortcut:
            weight[-1], bias[-1] = 0, 0
        found |= {f"weight{number}": weight * HIDDEN_UNIT, f"bias{number}": bias * UNIT * HIDDEN_UNIT}
    found |= {"weight2": torch.zeros((1, second)), "bias2": torch.zeros(1)}
    for name, value in found.items():
        stacks = (architecture.stacks,) if name[-1].isdigit() else ()  # all begin alike
        network.parameters[name] = value.expand(*stacks, *value.shape).clone().to(device).requires_grad_()
    network.keep_in_range()
    return network
