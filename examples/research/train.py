"""Train a small policy and value network for ten minutes, and play the random and the three-ply player with it.

    python train.py [--minutes 10] [--games 20] [--network FILE] [FILE ...]

The files are of any format that `learn corpus` reads. Without any, `usi_engine learn selfplay` makes 8,000 games first,
which takes some minutes. The network of FILE, if there is one, is trained further. It shows the loop.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from puct import MOST_MOVES, RULE, Network, Searches

from usi_engine import PSV_TYPE, Board, move_from_usi, positions
from usi_engine.features import BoardBatch, dlshogi_label, dlshogi_planes

sys.path.append(str(Path(__file__).parents[1]))
import alpha_beta

SIZE, RATE, VISITS, OPENING_PLIES = 128, 2e-3, 500, 4
Choose = Callable[[list[Board]], list[int]]  # moves as 16 bits


def made_games(path: Path) -> Path:
    """Make games with the packaged evaluation, if they are not there."""
    if not path.exists():
        options = ["--nodes", "100", "--opening-margin", "50", "--random-moves", "0.1", "--games", "8000"]
        command = [sys.executable, "-m", "usi_engine", "learn", "selfplay", "--threads", "2", "--out", str(path)]
        subprocess.run([*command, *options], check=True)
    return path


def rows_of(files: list[Path]) -> NDArray[Any]:
    """Read the positions that have a score as rows of PSV, but with the 16 bits that a move has here."""
    kept = (position for position in positions(files, on_fault=print) if position.score is not None)
    return np.array([(list(p.board.to_psv()), p.score, move_from_usi(p.move), 0, 0, 0) for p in kept], PSV_TYPE)


def batches(rows: NDArray[Any], seconds: float) -> Iterator[tuple[float, list[torch.Tensor]]]:
    """Yield planes, labels and chances of random positions until the time is over, with the share of it that passed."""
    rng, begun = np.random.default_rng(1), time.monotonic()
    while (share := (time.monotonic() - begun) / seconds) < 1:
        chosen = rng.choice(rows, SIZE)
        boards = [Board.from_psv(packed) for packed in chosen["sfen"]]
        labels = dlshogi_label(chosen["move"], np.array([board.turn for board in boards])).astype(np.int64)
        chances = 1 / (1 + np.exp(chosen["score"] / np.float32(-600)))
        yield share, [torch.from_numpy(part) for part in (*dlshogi_planes(boards), labels, chances)]


def train(network: Network, rows: NDArray[Any], seconds: float) -> None:
    """Learn the moves and chances, at a rate that falls to nothing."""
    optimizer = torch.optim.AdamW(network.train().parameters(), RATE, weight_decay=1e-3)
    for number, (share, (board, rest, labels, chances)) in enumerate(batches(rows, seconds)):
        optimizer.param_groups[0]["lr"] = RATE * (1 - share)
        logits, guessed = network(board, rest)
        policy = torch.nn.functional.cross_entropy(logits, labels)
        value = torch.nn.functional.binary_cross_entropy_with_logits(guessed, chances)
        optimizer.zero_grad()
        (policy + value).backward()
        optimizer.step()
        if number % 200 == 0:
            right = (logits.argmax(1) == labels).float().mean()
            error = (guessed.sigmoid() - chances).square().mean() ** 0.5
            print(f"{share:.0%}: batch {number}, moves found {right:.0%}, error of chances {error:.3f}", flush=True)


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
    network = Network().to(memory_format=torch.channels_last)  # a fifth faster
    if given.network.exists():
        network.load_state_dict(torch.load(given.network, weights_only=True))
    if given.minutes:
        train(network, rows_of(given.files or [made_games(Path("made.games"))]), 60 * given.minutes)
        torch.save(network.state_dict(), given.network)
    network.eval()
    for name, other in (("random", random_moves), ("three-ply", three_ply)):
        won, drawn, lost = play(lambda boards: searched(network, boards), other, given.games)
        print(f"against the {name} player: {won} won, {drawn} drawn, {lost} lost", flush=True)


if __name__ == "__main__":
    main()
