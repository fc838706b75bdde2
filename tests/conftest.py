"""Fixtures shared by all tests. Positions and random walks are plain functions in tests/positions.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import KppWeights, MateSolver, StopToken, Table, Worker, set_tunable, tunables
from tests.positions import data_rows
from usi_engine.evaluation.kpp_file import load_weights
from usi_engine.evaluation.names import KPP

NewWorker = Callable[..., Worker]
MateProblem = tuple[int, str, list[str]]  # plies, sfen, a solution

# Tests and the programs that they start keep unfolded weights here, not in the user's cache folder.
os.environ["KOMADORI_CACHE"] = str(Path(__file__).resolve().parents[1] / "build" / "test-cache")


@pytest.fixture
def board() -> Board:
    """The start position."""
    return Board()


@pytest.fixture(scope="session")
def weights() -> KppWeights:
    """The KPP weights of the package, unfolded once for all tests; read-only."""
    loaded = load_weights(KPP)
    assert loaded is not None
    return loaded


@pytest.fixture
def new_worker() -> NewWorker:
    """Makes a worker with a new table, and a new stop token unless one is given; without weights it uses material
    values.
    """

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
    """Puts every search constant back to its default after the test."""
    yield
    for name, _, default, *_ in tunables():
        set_tunable(name, default)


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of unfolded weights for this test; the folder is not made yet."""
    folder = tmp_path / "with space 駒鳥"
    monkeypatch.setenv("KOMADORI_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def cshogi() -> Any:
    """The module cshogi, an independent oracle of the rules; skips where it has no wheel."""
    return pytest.importorskip("cshogi")
