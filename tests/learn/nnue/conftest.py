"""Positions of random games, and a corpus of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pytest

from core_ext.board import Board
from tests.learn.helpers import positions_of, random_game, read_games
from usi_engine.learn.corpus.build import build_corpus
from usi_engine.learn.nnue.train import NetworkPlan, NetworkTraining


def board_score(board: Board) -> int:
    """Return 300 centipawns for each piece more, for the side to move."""
    placement, side, hands = board.sfen().split()[:3]
    black = sum(letter.isupper() for letter in placement + hands)
    white = sum(letter.islower() for letter in placement + hands)
    return 300 * (black - white) * (1 if side == "b" else -1)


def by_material(board: Board, rng: random.Random) -> int:
    """Return a score that follows the material, which can be learned."""
    return board_score(board) + rng.randint(-50, 50)


def train(corpus: Path, folder: Path, plan: NetworkPlan) -> NetworkTraining:
    """Run a whole training."""
    training = NetworkTraining(corpus, folder, plan)
    training.run()
    return training


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.tsv"
    path.write_text("".join(random_game(seed, 100, by_material) for seed in range(40)))
    return path


@pytest.fixture(scope="session")
def positions(games: Path) -> npt.NDArray[Any]:
    return positions_of(read_games(games), 5000)


@pytest.fixture(scope="session")
def corpus(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    build_corpus([games], folder, every=4)
    return folder
