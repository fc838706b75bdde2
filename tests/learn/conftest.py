"""Random games and their training positions."""

from pathlib import Path

import pytest

from tests.learn.helpers import positions_of, random_game, read_games
from usi_engine.learn.corpus.chances import Positions


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the tests of network training, which need PyTorch, only if they are named (`make test-learn`)."""
    return (collection_path.name == "nnue" and not any("nnue" in Path(word).parts for word in config.args)) or None


@pytest.fixture(scope="session")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 60 random games with scores."""
    path = tmp_path_factory.mktemp("games") / "games.tsv"
    path.write_text("".join(random_game(seed) for seed in range(60)))
    return path


@pytest.fixture(scope="session")
def few_games(teacher: Path) -> Path:
    """A file of the first six of these games."""
    path = teacher.with_name("few.tsv")
    path.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    return path


@pytest.fixture(scope="session")
def positions(teacher: Path) -> Positions:
    """The quiet positions of the random games."""
    return positions_of(read_games(teacher))
