"""Random games and their records, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.learn.helpers import random_game, read_games, records_of
from usi_engine.learn.corpus.build import Records


@pytest.fixture(scope="session")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 60 random games with scores."""
    path = tmp_path_factory.mktemp("games") / "games.tsv"
    path.write_text("".join(random_game(seed) for seed in range(60)))
    return path


@pytest.fixture(scope="session")
def records(teacher: Path) -> Records:
    """The records of their quiet positions."""
    return records_of(read_games(teacher))
