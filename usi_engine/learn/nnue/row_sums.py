"""The transformer's sums of rows for a batch, and the gradient of the rows, on a CPU and on a GPU."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

SMALL_TABLE = 4096  # rows up to which a 0/1 matrix is fastest on a GPU, and blocks that fit a cache on a CPU
COLUMNS = 128  # of a block
CACHED_SUMS = 8192  # rows of a block of sums or of their gradients
LONGEST_BAG = 64  # so that the threads share the work evenly: some features are active in every position


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


def row_sums_kind(device: str, rows: int) -> str:
    """Return the kind of RowSums that is fastest on a device."""
    if not device.startswith("cuda"):
        return "cpu"
    return "matrix" if rows <= SMALL_TABLE else "gpu"
