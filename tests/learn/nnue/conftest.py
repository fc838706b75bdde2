"""Positions of random games with their texts, and a corpus of random games. The tests of this folder need PyTorch."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from core_ext.board import Board
from tests.learn.conftest import build_corpus, random_game, walked_positions
from usi_engine.learn.corpus.chances import Positions

torch.set_num_threads(1)  # small networks, beside other tests


def by_material(board: Board, rng: random.Random) -> int:
    """Return a score that follows the material, which can be learned: 300 centipawns for each piece more."""
    placement, side, hands = board.sfen().split()[:3]
    black = sum(letter.isupper() for letter in placement + hands)
    white = sum(letter.islower() for letter in placement + hands)
    return 300 * (black - white) * (1 if side == "b" else -1) + rng.randint(-50, 50)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    games = folder / "games.tsv"
    games.write_text("".join(random_game(seed, 100, by_material) for seed in range(40)))
    build_corpus([games], folder, every=4, leaves="none")
    return folder


@pytest.fixture(scope="session")
def walked() -> list[tuple[str, Positions]]:
    return walked_positions(400)


@pytest.fixture(scope="session")
def positions(walked: list[tuple[str, Positions]]) -> Positions:
    return np.array([position for _, position in walked])
