"""Rows of JSON that a later run continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from usi_engine.files import KeptRows, OtherRowsError

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
