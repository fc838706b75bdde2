"""KPP files of arbitrary bytes: every one is read or raises WeightsError, never another exception."""

from __future__ import annotations

import contextlib
import hashlib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_ext.engine import BONAPIECES
from usi_engine.evaluation.kpp_file import FEATURES, MAGIC, compress, decompress, file_bytes, read_blocks, read_folded
from usi_engine.evaluation.names import WeightsError

NUMBERS = st.integers() | st.floats() | st.text(max_size=4) | st.none()
VALUES = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))
FIELDS = ("features", "tempo", "kkp_step", "kpp_step", "turn_step", "card", "blocks")


def small_header(blocks: dict[str, bytes]) -> dict[str, Any]:
    table = [[name, len(block), hashlib.sha256(block).hexdigest()] for name, block in blocks.items()]
    numbers = {"tempo": 7, "kkp_step": 8, "kpp_step": 8, "turn_step": 4}
    return {"features": FEATURES, **numbers, "card": {"note": "small"}, "blocks": table}


BLOCKS = {"piece": compress(bytes(4 * BONAPIECES)), "kp": compress(bytes(8)), "pp": b"no block"}
SMALL = file_bytes(small_header(BLOCKS), BLOCKS.values())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "some.kpp"


def check(path: Path, data: bytes) -> None:
    """Check that readers raise WeightsError only, and that none accepts the weights, whose blocks are too small."""
    path.write_bytes(data)
    with contextlib.suppress(WeightsError):
        read_blocks(data)
    with pytest.raises(WeightsError):
        read_folded(str(path))


def test_the_small_file_is_intact() -> None:
    header, blocks = read_blocks(SMALL)
    assert (header["tempo"], blocks) == (7, BLOCKS)


def test_a_block_that_expands_to_much_takes_no_memory() -> None:
    bomb = compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    tracemalloc.start()
    with pytest.raises(WeightsError, match="does not have 8 bytes"):
        decompress(bomb, 8)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23  # the dictionary has 4 MB


GOOD = small_header(BLOCKS)
ROWS = st.tuples(st.sampled_from([*BLOCKS, "kkp"]), NUMBERS, NUMBERS) | VALUES
HEADERS = (
    st.builds(lambda field, value: GOOD | {field: value}, st.sampled_from(FIELDS), VALUES)
    | st.builds(lambda table: GOOD | {"blocks": table}, st.lists(ROWS, max_size=3))
    | st.sampled_from([{name: GOOD[name] for name in FIELDS if name != missing} for missing in FIELDS])
    | VALUES
)


@given(HEADERS)
@settings(max_examples=60, deadline=None)
def test_a_header_with_any_value_table_or_without_a_field(path: Path, header: Any) -> None:
    check(path, file_bytes(header, BLOCKS.values()))


def test_a_header_nested_too_deeply(path: Path) -> None:
    text = b"[" * 200_000
    check(path, MAGIC + len(text).to_bytes(4, "little") + hashlib.sha256(text).digest() + text)
