"""Kept results: resuming, damaged files, files that are none."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.records.common import FAST, RECORDS, game_of, valued
from usi_engine.analysis.judgement import Candidate, Evaluated
from usi_engine.analysis.limits import Limits
from usi_engine.analysis.store import Store, store_path

GAME = RECORDS / "game.kif"
RESULT = replace(valued(12, "7g7f"), others=(Candidate(-5, None, ("2g2f", "8c8d")), Candidate(-31990, -10, ("1g1f",))))

pytestmark = pytest.mark.usefixtures("cache_folder")


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    Store(path).put(3, RESULT)
    assert Store(path).get(3, Board()) == RESULT
    assert Store(path).get(3, Board.from_moves(["7g7f", "3c3d"])) is None  # moves of another position
    assert Store(path, anew=True).get(3, Board()) is None
    assert Store(path).get(3, Board()) is None


def line_of(result: Evaluated, **changed: object) -> bytes:
    return json.dumps([4, asdict(result) | changed]).encode()


@pytest.mark.parametrize("damaged", [
    b"nonsense", b"[4]", b'[4, {"value": 1}]', b"\xff\xfe", b"[" * 100_000, line_of(RESULT)[:-9],
    line_of(RESULT, value=32001), line_of(RESULT, pv=["7g7x"]), line_of(RESULT, pv=7), line_of(RESULT, others=None),
    line_of(RESULT, others=[[]]), line_of(RESULT, mate=[]), line_of(RESULT, nodes=None),
    line_of(RESULT).replace(b"12", b"1e999"), line_of(RESULT).replace(b'"depth": 10', b'"depth": NaN'),
    line_of(RESULT).replace(b"[4,", b"[1e999,"), line_of(RESULT).replace(b"1000", b"9" * 5000),
])  # fmt: skip
def test_damaged_lines_are_skipped(damaged: bytes, tmp_path: Path) -> None:
    """The lines before and after still count, the last one even after a line that was cut off."""
    path = tmp_path / "a.jsonl"
    Store(path).put(3, RESULT)
    with path.open("ab") as file:
        file.write(damaged)
    Store(path).put(5, RESULT)
    store = Store(path)
    assert [store.get(ply, Board()) for ply in (3, 4, 5)] == [RESULT, None, RESULT]


@pytest.mark.skipif(os.name == "nt", reason="pipes")
def test_only_a_regular_file_is_used(tmp_path: Path) -> None:
    """A pipe would block for ever."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        store = Store(path)
        assert store.get(3, Board()) is None
        store.put(4, RESULT)
        assert store.get(4, Board()) == RESULT


def test_the_file_depends_on_game_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, other = game_of(GAME), game_of(RECORDS / "handicap.kif")
    limits = [FAST, Limits(), replace(FAST, multipv=2)]
    paths = [*(store_path(game, limit) for limit in limits), store_path(other, FAST)]
    assert len(set(paths)) == 4
    assert store_path(game_of(RECORDS / "game.csa"), FAST) == paths[0]
    network = tmp_path / "nn.bin"
    network.write_bytes(b"one")
    own = Limits(evaluation=str(tmp_path))
    before = store_path(game, own)
    network.write_bytes(b"another")
    assert store_path(game, own) != before
    monkeypatch.setenv("KOMADORI_CACHE", "")
    assert store_path(game, FAST) is None
