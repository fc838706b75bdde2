"""Kept results: resuming, damaged files, files that are none."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.records.common import FAST, RECORDS, game_of, valued
from usi_engine.analysis.analyst import Store, store_path
from usi_engine.search.results import Limit

GAME = RECORDS / "game.kif"
LINES = [valued(12, "7g7f"), valued(-5, "2g2f", "8c8d"), valued(-31990, "1g1f")]
RESULT = replace(LINES[0], lines=tuple(result.lines[0] for result in LINES))

pytestmark = pytest.mark.usefixtures("cache_folder")


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    Store(path).put(3, RESULT)
    assert Store(path).get(3, Board()) == RESULT
    assert Store(path).get(3, Board.from_moves(["7g7f", "3c3d"])) is None  # moves of another position
    assert Store(path, anew=True).get(3, Board()) is None
    assert Store(path).get(3, Board()) is None


KEPT = b'[4, 12, 10, 1000, 500, [12, 10, 10, "7g7f"], [-5, 10, 10, "2g2f", "8c8d"]]'


@pytest.mark.parametrize("damaged", [
    b"nonsense", b"[4]", b'[4, {"value": 1}]', b"{}", b"7", b"\xff\xfe", b"[" * 100_000, KEPT[:-9],
    *(KEPT.replace(old, new) for old, new in [
        (b"[12", b"[32001"), (b" 12,", b" -32001,"), (b" 12,", b" null,"), (b"7g7f", b"7g7x"), (b"8c8d", b""),
        (b'"7g7f"', b"7"), (b', "7g7f"', b""), (b'[12, 10, 10, "7g7f"]', b"null"), (b" 10,", b" [],"),
        (b"12", b"1e999"), (b" 10,", b" NaN,"), (b"500", b"1e999"), (b"[4,", b"[1e999,"), (b"[4,", b"[[],"),
        (b"1000", b"9" * 5000),
    ]),
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


def test_a_line_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(KEPT)
    assert Store(tmp_path / "a.jsonl").get(4, Board()) == replace(RESULT, lines=RESULT.lines[:2])


@pytest.mark.skipif(os.name == "nt", reason="pipes and links")
def test_only_a_regular_file_is_used(tmp_path: Path) -> None:
    """A pipe would block for ever; a link could lead anywhere."""
    pipe, link, target = tmp_path / "pipe.jsonl", tmp_path / "link.jsonl", tmp_path / "target"
    os.mkfifo(pipe)
    Store(target).put(3, RESULT)
    before = target.read_bytes()
    link.symlink_to(target)
    for path in (pipe, link, tmp_path, tmp_path / ("x" * 300)):
        store = Store(path)
        assert store.get(3, Board()) is None
        store.put(4, RESULT)
        assert store.get(4, Board()) == RESULT
    assert target.read_bytes() == before


def test_the_file_depends_on_game_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, other = game_of(GAME), game_of(RECORDS / "handicap.kif")
    limits = [FAST, replace(FAST, limit=Limit(nodes=301)), replace(FAST, multipv=2)]
    paths = [*(store_path(game, limit) for limit in limits), store_path(other, FAST)]
    assert len(set(paths)) == 4
    assert store_path(game_of(RECORDS / "game.csa"), FAST) == paths[0]
    network = tmp_path / "nn.bin"
    network.write_bytes(b"one")
    own = replace(FAST, evaluation=str(tmp_path))
    before = store_path(game, own)
    network.write_bytes(b"another")
    assert store_path(game, own) != before
    monkeypatch.setenv("KOMADORI_CACHE", "")
    assert store_path(game, FAST) is None
