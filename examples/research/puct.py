"""PUCT search (as in AlphaZero) of many games at once: each round asks a PyTorch network about one batch of leaves.

The boards are a `BoardBatch`, which goes to a leaf of every game ply by ply. The network has random weights here;
`train.py` trains one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from usi_engine import Board, move_to_usi
from usi_engine.features import BoardBatch, dlshogi_planes, label_moves

EXPLORATION, UNVISITED, RULE, MOST_MOVES = 1.5, -0.2, "CSARule27", 320
WAYS = 27  # of labels, which are 81 times the way plus the target
Floats = NDArray[np.float32]
Path = list[tuple["Node", int]]  # nodes from the root on, with the place of the move


def layer(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())


class Network(nn.Module):  # type: ignore[misc]
    """Returns logits of the labels, and of the chance of the side to move, from the planes of dlshogi."""

    def __init__(self, width: int = 32, layers: int = 4) -> None:
        super().__init__()
        self.board, self.rest = nn.Conv2d(62, width, 1), nn.Linear(57, width)
        self.body = nn.Sequential(nn.ReLU(), *(layer(width) for _ in range(layers)))
        self.policy = nn.Conv2d(width, WAYS, 1)
        hidden = nn.Sequential(nn.Conv2d(width, 8, 1), nn.Flatten(), nn.ReLU(), nn.Linear(8 * 81, 64), nn.ReLU())
        self.value = nn.Sequential(hidden, nn.Linear(64, 1))

    def forward(self, board: torch.Tensor, rest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        body = self.body(self.board(board) + self.rest(rest[:, :, 0, 0])[:, :, None, None])
        return self.policy(body).flatten(1), self.value(body)[:, 0]

    def evaluate(self, boards: Any) -> tuple[Floats, Floats]:
        """Return the logits, and values between -1 and 1."""
        with torch.inference_mode():
            logits, chances = self(*map(torch.from_numpy, dlshogi_planes(boards)))
        return logits.numpy(), torch.tanh(chances / 2).numpy()


@dataclass
class Node:
    """The moves of a position, with priors, visits and the means of their values for the side that moves."""

    moves: NDArray[np.uint16]
    priors: Floats
    visits: NDArray[np.int64]
    means: NDArray[np.float64]
    count: int = 1
    children: dict[int, Node] = field(default_factory=dict)

    def best(self) -> int:
        """Return the place of the move with the greatest upper bound."""
        spread = EXPLORATION * math.sqrt(self.count)
        return int(np.argmax(self.means + spread * self.priors / (1 + self.visits)))


def new_node(moves: NDArray[np.uint16], logits: Floats, value: float) -> Node:
    """Return a node with the legal moves of all labels, each a little worse than the position."""
    labels = np.flatnonzero(moves)
    priors = np.exp(logits[labels] - logits[labels].max())
    means = np.full(len(labels), value + UNVISITED)
    return Node(moves[labels], priors / priors.sum(), np.zeros(len(labels), np.int64), means)


class Searches:
    """A search for each board of a batch, which is moved and returns to where it was."""

    def __init__(self, batch: BoardBatch, network: Any) -> None:
        self.batch, self.network = batch, network
        self.roots: list[Node | None] = [None] * len(batch)

    def visit(self, rounds: int) -> None:
        """Add `rounds` leaves to each search."""
        for _ in range(rounds):
            paths = self.descend()
            moves, (logits, values) = label_moves(self.batch), self.network.evaluate(self.batch)
            for i, (path, decided) in enumerate(zip(paths, self.decided(paths), strict=True)):
                if decided is None:
                    self.expand(i, path, new_node(moves[i], logits[i], values[i]))
                back_up(path, float(values[i] if decided is None else decided))
            depths = np.array([len(path) for path in paths])
            for depth in range(depths.max()):
                self.batch.pop(depths > depth)

    def decided(self, paths: list[Path]) -> list[int | None]:
        """Return the values for the side to move of the leaves at which the game ends, now or by a mate; else None."""
        ended, winners = self.batch.outcomes(RULE, MOST_MOVES)
        results = np.where(winners < 0, 0, np.where(winners == self.batch.turns(), 1, -1))
        mates = [bool(path and board.mate_in_one()) for path, board in zip(paths, self.batch, strict=True)]
        return [end if over else 1 if mate else None for end, over, mate in zip(results, ended, mates, strict=True)]

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
        node.count += 1
        node.visits[place] += 1
        node.means[place] += (value - node.means[place]) / node.visits[place]


if __name__ == "__main__":
    torch.set_num_threads(1)  # on such small batches threads wait for each other, for minutes if others use the cores
    torch.manual_seed(1)
    problems, batch = [Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1"), Board("4k4/9/9/9/9/4p4/9/9/4K4 w g 1")], BoardBatch(16)
    batch[0], batch[1] = problems
    searches, begun = Searches(batch, Network().eval()), time.perf_counter()
    searches.visit(600)
    moves = [move_to_usi(move) for move in searches.moves()]
    print(f"{600 * len(batch) / (time.perf_counter() - begun):.0f} positions a second; moves: {' '.join(moves)}")
    for problem, move in zip(problems, moves, strict=False):
        assert problem.mate_in_one() is None or Board.from_moves([move], problem.sfen()).is_checkmate(), move
