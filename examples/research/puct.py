"""PUCT search (as in AlphaZero) of many games at once: each round asks a PyTorch network about one batch of leaves.

The boards are a `BoardBatch`, which goes to a leaf of every game ply by ply. The network has random weights here;
`train.py` trains one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from usi_engine import Board, move_to_usi
from usi_engine.features import BoardBatch, label_moves, piece_planes

EXPLORATION, RULE, MOST_MOVES = 1.5, "CSARule27", 320
PLANES, WAYS = 42, 27  # of piece_planes; of labels, which are 81 times the way plus the target
Floats = NDArray[np.float32]


class Network(torch.nn.Module):  # type: ignore[misc]
    """Returns logits of the labels, and the value of the side to move between -1 and 1."""

    def __init__(self, width: int = 32, layers: int = 4) -> None:
        super().__init__()
        widths = [PLANES, *[width] * layers]
        self.body = torch.nn.Sequential(*(self.layer(before, after) for before, after in pairwise(widths)))
        self.policy = torch.nn.Conv2d(width, WAYS, 1)
        self.value = torch.nn.Sequential(
            self.layer(width, 4),
            torch.nn.Flatten(),
            torch.nn.Linear(4 * 81, 64),
            torch.nn.ReLU(),
            torch.nn.Linear(64, 1),
        )

    @staticmethod
    def layer(before: int, after: int) -> torch.nn.Sequential:
        convolution = torch.nn.Conv2d(before, after, 3, padding=1, bias=False)
        return torch.nn.Sequential(convolution, torch.nn.BatchNorm2d(after), torch.nn.ReLU())

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        body = self.body(planes)
        return self.policy(body).flatten(1), torch.tanh(self.value(body))[:, 0]

    def evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            logits, values = self(torch.from_numpy(planes))
        return logits.numpy(), values.numpy()


@dataclass
class Node:
    """The moves of a position, with priors, visits and the sums of their values for the side that moves."""

    moves: NDArray[np.uint16]
    priors: Floats
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]
    children: dict[int, Node] = field(default_factory=dict)

    def best(self) -> int:
        """Return the place of the move with the greatest upper bound."""
        spread = EXPLORATION * math.sqrt(self.visits.sum() + 1)
        means = self.totals / np.maximum(self.visits, 1)
        return int(np.argmax(means + spread * self.priors / (1 + self.visits)))


def new_node(moves: NDArray[np.uint16], logits: Floats) -> Node:
    """Return a node with the legal moves of all labels."""
    labels = np.flatnonzero(moves)
    priors = np.exp(logits[labels] - logits[labels].max())
    return Node(moves[labels], priors / priors.sum(), np.zeros(len(labels), np.int64), np.zeros(len(labels)))


Path = list[tuple[Node, int]]  # nodes from the root on, with the place of the move


class Searches:
    """A search for each board of a batch, which is moved and returns to where it was."""

    def __init__(self, batch: BoardBatch, network: Any) -> None:
        self.batch, self.network = batch, network
        self.roots: list[Node | None] = [None] * len(batch)

    def visit(self, rounds: int) -> None:
        """Add `rounds` leaves to each search."""
        for _ in range(rounds):
            paths = self.descend()
            ended, winners = self.batch.outcomes(RULE, MOST_MOVES)
            results = np.where(winners < 0, 0, np.where(winners == self.batch.turns(), 1, -1))
            moves, (logits, values) = label_moves(self.batch), self.network.evaluate(piece_planes(self.batch))
            for i, path in enumerate(paths):
                if not ended[i]:
                    self.expand(i, path, new_node(moves[i], logits[i]))
                back_up(path, float(results[i] if ended[i] else values[i]))
            depths = np.array([len(path) for path in paths])
            for depth in range(depths.max()):
                self.batch.pop(depths > depth)

    def descend(self) -> list[Path]:
        """Move every board to a leaf of its tree."""
        paths: list[Path] = [[] for _ in self.roots]
        nodes = list(self.roots)
        while any(nodes):
            words = np.zeros(len(nodes), np.uint16)
            for i, node in enumerate(nodes):
                if node is not None:
                    place = node.best()
                    words[i], nodes[i] = node.moves[place], node.children.get(place)
                    paths[i].append((node, place))
            self.batch.push(words)
        return paths

    def expand(self, i: int, path: Path, node: Node) -> None:
        if path:
            path[-1][0].children[path[-1][1]] = node
        else:
            self.roots[i] = node

    def moves(self) -> NDArray[np.uint16]:
        """Return the most visited move of each board, 0 if its game has ended."""
        return np.array([0 if root is None else root.moves[root.visits.argmax()] for root in self.roots], np.uint16)


def back_up(path: Path, value: float) -> None:
    """Add the value for the side to move at the leaf."""
    for node, place in reversed(path):
        value = -value
        node.visits[place] += 1
        node.totals[place] += value


if __name__ == "__main__":
    torch.set_num_threads(1)  # on such small batches threads wait for each other, for minutes if others use the cores
    torch.manual_seed(1)
    problems, batch = [Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1"), Board("4k4/9/9/9/9/4p4/9/9/4K4 w g 1")], BoardBatch(16)
    batch[0], batch[1] = problems
    searches, begun = Searches(batch, Network().eval()), time.perf_counter()
    searches.visit(200)
    moves = [move_to_usi(move) for move in searches.moves()]
    print(f"{200 * len(batch) / (time.perf_counter() - begun):.0f} positions a second; moves: {' '.join(moves)}")
    for problem, move in zip(problems, moves, strict=False):
        assert problem.mate_in_one() is None or Board.from_moves([move], problem.sfen()).is_checkmate(), move
