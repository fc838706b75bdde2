"""Fixtures shared by all tests. Positions and random walks are plain functions in tests/positions.py."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, KppWeights, MateSolver, StopToken, Table, Worker, set_tunable, tunables
from tests.positions import data_rows
from usi_engine.evaluation.kpp_file import load_weights
from usi_engine.evaluation.names import KPP

NewWorker = Callable[..., Worker]
MateProblem = tuple[int, str, list[str]]  # plies, sfen, a solution

# Tests and the programs that they start keep unfolded weights here, not in the user's cache folder.
os.environ["KOMADORI_CACHE"] = str(Path(__file__).resolve().parents[1] / "build" / "test-cache")
os.environ["KOMADORI_DATA"] = ""  # games in the browser are saved only by the tests that name a folder
os.environ["LANGUAGE"] = "en"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the tests of pages, which need a browser, only if they are named (`make test-page`)."""
    return (collection_path.name == "page" and not any("page" in Path(word).parts for word in config.args)) or None


@pytest.fixture
def board() -> Board:
    """The start position."""
    return Board()


@pytest.fixture(scope="session")
def weights() -> KppWeights:
    """The KPP weights of the package, unfolded once for all tests; read-only."""
    return load_weights(KPP)


def deepen(worker: Worker, root: str | Board, depth: int, node_limit: int = 0) -> int:
    """Search depth by depth from a new root; return the value of the last finished depth."""
    worker.set_root(root if isinstance(root, Board) else Board(root))
    value = 0
    for plies in range(1, depth + 1):
        found = worker.search(plies, -INFINITE, INFINITE, 0, node_limit)
        if worker.stopped:
            break
        value = found
    return value


@pytest.fixture
def new_worker() -> NewWorker:
    """Make a worker with a new table, and a new stop token unless one is given; without weights it uses material."""

    def make(weights: KppWeights | None = None, megabytes: int = 1, stop: StopToken | None = None) -> Worker:
        worker = Worker(Table(megabytes), stop or StopToken(), weights)
        worker.configure()
        return worker

    return make


@pytest.fixture
def worker(new_worker: NewWorker) -> Worker:
    """A worker with material values and a table of 16 MB."""
    return new_worker(megabytes=16)


@pytest.fixture
def solver() -> MateSolver:
    """A mate solver with a table of 16 MB."""
    return MateSolver(16, StopToken())


@pytest.fixture(scope="session")
def mate_problems() -> list[MateProblem]:
    """Every problem of tests/data/mate_problems.tsv."""
    return [(int(length), sfen, solution.split()) for length, sfen, solution in data_rows("mate_problems.tsv")]


@pytest.fixture
def usual_constants() -> Iterator[None]:
    """Restore the default of every search constant after the test."""
    yield
    for name, _, default, *_ in tunables():
        set_tunable(name, default)


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache of unfolded weights; it does not exist yet."""
    folder = tmp_path / "with space 駒鳥"
    monkeypatch.setenv("KOMADORI_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def cshogi() -> Any:
    """The module cshogi, an independent oracle of the rules; skips if it is not installed."""
    return pytest.importorskip("cshogi")
