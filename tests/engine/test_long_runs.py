"""Long runs: rows of JSON that a later run continues, progress."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from usi_engine.files import KeptRows, OtherRowsError
from usi_engine.progress import Progress

DAMAGED = b"\xff\n[1\n" + b"[" * 100_000 + b'\nnull\n{"a": 1'


@pytest.mark.parametrize("conditions", [None, {"nodes": 5}])
def test_rows_are_kept(tmp_path: Path, conditions: dict[str, Any] | None) -> None:
    """Damaged lines are no rows, and one that was cut off does not damage the next."""
    path = tmp_path / "folder" / "rows.jsonl"
    path.parent.mkdir()
    KeptRows(path, conditions).add([1, "é"])
    for row in ({"b": 2.5}, [3]):
        with path.open("ab") as file:
            file.write(DAMAGED)
        KeptRows(path, conditions).add(row)
    assert KeptRows(path, conditions).rows == [[1, "é"], {"b": 2.5}, [3]]


@pytest.mark.parametrize(("data", "is_kept"), [(b'{"nodes": 6}\n[1]\n', True), (b"notes", False), (b"7\n", False)])
def test_other_files_stay(tmp_path: Path, data: bytes, is_kept: bool) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with pytest.raises(OtherRowsError) as raised:
        KeptRows(path, {"nodes": 5})
    assert (raised.value.conditions is not None) == is_kept and path.read_bytes() == data


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("game.kif", 3, every=0) as progress:
        for _ in range(3):
            progress.add()
    assert ("game.kif" in stream.getvalue()) == terminal


def test_a_log_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of earlier runs are in the count, not in the rate."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("games", 40, 10, every=1e-9) as progress:
        progress.add(2, 100, "a note")
    assert stream.getvalue().startswith("12/40 games, 100 positions, ")
    assert progress.line(10) == "12/40 games, 100 positions, 10 a second, 2.3 min left"
    progress = Progress("positions")
    progress.add(5)
    assert progress.line(10, "a note") == "5 positions, 0.5 a second, a note"
