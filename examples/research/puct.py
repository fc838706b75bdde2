"""PUCT search (as in AlphaZero) of several games at once: each round asks a PyTorch network about one batch of leaves.

The network here has random weights: what is shown is the loop. A trained one is any module that returns the same.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
from encoding import ORIGINS, PLANES, legal_actions, planes, result_of

from usi_engine import Board, move_to_usi

EXPLORATION, MOST_MOVES = 1.5, 320


class Network(torch.nn.Module):  # type: ignore[misc]
    """Returns logits of all actions, and the value of the side to move between -1 and 1."""

    def __init__(self, width: int = 64, layers: int = 4) -> None:
        super().__init__()
        widths = [PLANES, *[width] * layers]
        self.body = torch.nn.Sequential(
            *(
                torch.nn.Sequential(torch.nn.Conv2d(before, after, 3, padding=1), torch.nn.ReLU())
                for before, after in pairwise(widths)
            )
        )
        self.policy = torch.nn.Conv2d(width, 2 * ORIGINS, 1)
        self.value = torch.nn.Linear(width, 1)

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        body = self.body(inputs)
        by_target = self.policy(body).reshape(-1, ORIGINS, 2, 81)
        return by_target.transpose(2, 3).flatten(1), torch.tanh(self.value(body.mean((2, 3))))[:, 0]


@dataclass
class Node:
    """A position: the move to it as 16 bits, its prior, visits and the sum of their values for the side that moved."""

    move: int = 0
    prior: float = 0.0
    visits: int = 0
    total: float = 0.0
    children: list[Node] = field(default_factory=list)

    def best(self) -> Node:
        """Return the child with the greatest upper bound."""
        spread = EXPLORATION * math.sqrt(self.visits)
        return max(
            self.children,
            key=lambda child: child.total / max(child.visits, 1) + spread * child.prior / (1 + child.visits),
        )


class Searches:
    """A search for each board, with `leaves` positions of each board in a batch."""

    def __init__(self, boards: list[Board], network: torch.nn.Module, leaves: int = 4) -> None:
        self.boards, self.network, self.leaves = [board.copy() for board in boards], network, leaves
        self.roots = [Node() for _ in boards]

    def round(self) -> int:
        """Visit `leaves` positions of each board; return how many the network evaluated."""
        waiting: list[tuple[list[Node], dict[int, int]]] = []
        inputs = []
        for board, root in zip(self.boards, self.roots, strict=True):
            for _ in range(self.leaves):
                path = self.descend(board, root)
                result = result_of(board, MOST_MOVES)
                if result is None:
                    waiting.append((path, legal_actions(board)))
                    inputs.append(planes(board))
                else:
                    back_up(path, float(-result if board.turn else result))
                for _ in path[1:]:
                    board.pop()
        if waiting:
            with torch.inference_mode():
                logits, values = self.network(torch.from_numpy(np.stack(inputs)))
            for (path, legal), row, value in zip(waiting, logits, values.tolist(), strict=True):
                expand(path[-1], legal, row)
                back_up(path, value)
        return len(waiting)

    def descend(self, board: Board, root: Node) -> list[Node]:
        """Go to a leaf. Each node on the way counts a visit that is lost until the leaf has its value."""
        path = [root]
        while path[-1].children:
            path.append(path[-1].best())
            board.push(path[-1].move)
        for node in path:
            node.visits += 1
            node.total -= 1
        return path

    def moves(self) -> list[str]:
        """Return the most visited move of each board."""
        return [move_to_usi(max(root.children, key=lambda child: child.visits).move) for root in self.roots]


def expand(node: Node, legal: dict[int, int], logits: torch.Tensor) -> None:
    """Add the legal moves with their priors, unless another leaf of the batch did."""
    if not node.children:
        priors = torch.softmax(logits[list(legal)], 0).tolist()
        node.children = [Node(move, prior) for move, prior in zip(legal.values(), priors, strict=True)]


def back_up(path: list[Node], value: float) -> None:
    """Add the value for the side to move at the leaf; the visits are counted already, as losses."""
    for node in reversed(path):
        value = -value
        node.total += 1 + value


if __name__ == "__main__":
    torch.manual_seed(1)
    problems = [Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1"), Board("4k4/9/9/9/9/4p4/9/9/4K4 w g 1")] + [Board()] * 14
    searches, begun, evaluated = Searches(problems, Network().eval()), time.perf_counter(), 0
    for _ in range(40):
        evaluated += searches.round()
    moves = searches.moves()
    print(f"{evaluated / (time.perf_counter() - begun):.0f} positions a second; moves: {' '.join(moves)}")
    for problem, move in zip(problems[:2], moves, strict=False):
        mated = Board.from_moves([move], problem.sfen()).is_checkmate()
        assert mated or problem.mate_in_one() is None, f"{move} in {problem.sfen()}"
