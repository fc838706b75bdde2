"""Train a small policy and value network for ten minutes, and play the random and the three-ply player with it.

    python train.py [--minutes 10] [--games 20] [--network FILE] [FILE ...]

The files are of any format that `learn corpus` reads. Without any, `usi_engine learn selfplay` makes 3,000 games first,
which takes some minutes. The network of FILE, if there is one, is trained further. It shows the loop.
"""

from __future__ import annotations

import argparse
import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from puct import MOST_MOVES, RULE, Network, Searches

from usi_engine import Board, LabelledPosition, move_from_usi, positions
from usi_engine.features import BoardBatch, dlshogi_label, piece_planes

sys.path.append(str(Path(__file__).parents[1]))
import alpha_beta

SIZE, RATE, VISITS, OPENING_PLIES = 256, 2e-3, 500, 4
Arrays = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float32]]  # planes, labels, values
Choose = Callable[[list[Board]], list[int]]  # moves as 16 bits


def made_games(path: Path) -> Path:
    """Make games with the packaged evaluation, if they are not there."""
    if not path.exists():
        options = ["--nodes", "100", "--games", "3000", "--threads", "2", "--opening-margin", "50", "--out", str(path)]
        subprocess.run([sys.executable, "-m", "usi_engine", "learn", "selfplay", *options], check=True)
    return path


def value_of(position: LabelledPosition) -> float:
    """Return the mean of the game's result and the chance that the score gives, between -1 and 1."""
    result = float(position.result or 0)
    return result if position.score is None else (result + np.tanh(position.score / 1200)) / 2


def arrays_of(files: list[Path]) -> Arrays:
    """Read all positions, a thousand at a time."""
    parts: list[Arrays] = []
    given = positions(files, on_fault=print)
    while chunk := list(itertools.islice(given, 1024)):
        boards = [position.board for position in chunk]
        words = np.array([move_from_usi(position.move) for position in chunk], np.uint16)
        labels = dlshogi_label(words, np.array([board.turn for board in boards])).astype(np.int64)
        values = np.array([value_of(position) for position in chunk], np.float32)
        parts.append((piece_planes(boards).astype(np.uint8), labels, values))
    planes, targets, wanted = zip(*parts, strict=True)
    return np.concatenate(planes), np.concatenate(targets), np.concatenate(wanted)


def batches(data: Arrays, seconds: float) -> Iterator[tuple[float, list[torch.Tensor]]]:
    """Yield random batches until the time is over, with the share of it that has passed."""
    rng, begun = np.random.default_rng(1), time.monotonic()
    while (share := (time.monotonic() - begun) / seconds) < 1:
        rows = rng.integers(0, len(data[0]), SIZE)
        yield share, [torch.from_numpy(part[rows]) for part in data]


def train(network: Network, data: Arrays, seconds: float) -> None:
    """Learn the moves and values, at a rate that falls to nothing."""
    optimizer = torch.optim.AdamW(network.train().parameters(), RATE, weight_decay=1e-3)
    for number, (share, (planes, labels, values)) in enumerate(batches(data, seconds)):
        optimizer.param_groups[0]["lr"] = RATE * (1 - share)
        logits, guessed = network(planes.float())
        loss = torch.nn.functional.cross_entropy(logits, labels) + torch.nn.functional.mse_loss(guessed, values)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 200 == 0:
            right = (logits.argmax(1) == labels).float().mean()
            print(f"{share:.0%}: batch {number}, loss {loss.item():.3f}, moves found {right:.0%}", flush=True)


def searched(network: Network, boards: list[Board]) -> list[int]:
    """Return for each board a mate in one, or the move of a search."""
    batch = BoardBatch(len(boards))
    for i, board in enumerate(boards):
        batch[i] = board
    searches = Searches(batch, network)
    searches.visit(VISITS)
    mates = [board.mate_in_one() for board in boards]
    return [move_from_usi(mate) if mate else int(move) for mate, move in zip(mates, searches.moves(), strict=True)]


def three_ply(boards: list[Board]) -> list[int]:
    bound = 2 * alpha_beta.MATE
    lines = (alpha_beta.search(board, alpha_beta.DEPTH, -bound, bound, 0)[1] for board in boards)
    return [move_from_usi(line[0]) for line in lines]


def random_moves(boards: list[Board]) -> list[int]:
    return [move_from_usi(random.choice(board.legal_moves())) for board in boards]


def play(first: Choose, second: Choose, games: int) -> tuple[int, int, int]:
    """Play games from random openings, each side Black in every other one; return wins, draws and losses of `first`."""
    boards, results = [Board() for _ in range(games)], [0, 0, 0]
    for _ in range(OPENING_PLIES):
        for board, move in zip(boards, random_moves(boards), strict=True):
            board.push(move)
    open_games = list(enumerate(boards))
    while open_games:
        for choose, own in ((first, 0), (second, 1)):
            mine = [board for i, board in open_games if (board.turn + i) % 2 == own]
            for board, move in zip(mine, choose(mine) if mine else [], strict=True):
                board.push(move)
            ends = [(i, board, board.outcome(RULE, MOST_MOVES)) for i, board in open_games]
            for i, _, end in ends:
                if end:
                    results[1 if end.winner is None else 0 if (end.winner + i) % 2 == 0 else 2] += 1
            open_games = [(i, board) for i, board, end in ends if not end]
    return results[0], results[1], results[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--network", type=Path, default=Path("network.pt"))
    parser.add_argument("files", type=Path, nargs="*")
    given = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    network = Network()
    if given.network.exists():
        network.load_state_dict(torch.load(given.network, weights_only=True))
    if given.minutes:
        train(network, arrays_of(given.files or [made_games(Path("made.games"))]), 60 * given.minutes)
        torch.save(network.state_dict(), given.network)
    network.eval()
    for name, other in (("random", random_moves), ("three-ply", three_ply)):
        won, drawn, lost = play(lambda boards: searched(network, boards), other, given.games)
        print(f"against the {name} player: {won} won, {drawn} drawn, {lost} lost", flush=True)


if __name__ == "__main__":
    main()
