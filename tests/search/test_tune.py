"""The search's constants: one list in tune.h, the same by name, by field and by place."""

import re
from pathlib import Path

import pytest

from core_ext.engine import set_tunable, tunable, tunables
from tests.positions import MIDGAME
from usi_engine.core import load_core
from usi_engine.game.bench import count_nodes

CORE = Path(__file__).resolve().parents[2] / "core_ext"
ROW = re.compile(r"X\((\w+), (-?\d+), (-?\d+), (-?\d+)\)")
# Field, default, least, greatest.
LISTED: list[tuple[str, int, int, int]] = [
    (field, int(default), int(least), int(greatest))
    for field, default, least, greatest in ROW.findall((CORE / "search" / "tune.h").read_text("utf-8"))
]
FIELDS = [row[0] for row in LISTED]


def text_name(field: str) -> str:
    return field.title().replace("_", "")


pytestmark = pytest.mark.usefixtures("usual_constants")


def test_the_list_is_the_headers() -> None:
    """Names, order, defaults and ranges; the values now are the defaults."""
    expected = [(text_name(field), default, default, *bounds) for field, default, *bounds in LISTED]
    assert tunables() == expected
    assert len(set(FIELDS)) == len(FIELDS) > 60
    assert not [name for name, _, default, least, greatest in tunables() if not least <= default <= greatest]


def test_every_constant_is_used() -> None:
    source = "".join(path.read_text("utf-8") for path in (CORE / "search").glob("*.p[xy]*"))
    assert not [field for field in FIELDS if not re.search(rf"\btune\.{field}\b", source)]


def test_setting_one_changes_that_one_alone() -> None:
    for name, _, default, least, greatest in tunables():
        for value in (least, greatest):
            set_tunable(name, value)
            assert tunable(name) == value
            changed = {other for other, now, standard, *_ in tunables() if now != standard}
            assert changed == ({name} if value != default else set())
        set_tunable(name, default)


def test_a_constant_changes_the_search() -> None:
    counts = []
    for value in (tunable("LmrBase"), 1500, tunable("LmrBase")):
        set_tunable("LmrBase", value)
        counts.append(count_nodes(load_core(), None, [MIDGAME], 8))
    assert counts[0] == counts[2] != counts[1]


def test_refusals_say_what_is_wrong() -> None:
    name, before, _, least, greatest = tunables()[5]
    for value in (least - 1, greatest + 1):
        with pytest.raises(ValueError, match=rf"^{name} = {value} is not within {least} and {greatest}$"):
            set_tunable(name, value)
    assert tunable(name) == before
    with pytest.raises(ValueError, match=r"^unknown constant 'NoSuchName'$"):
        set_tunable("NoSuchName", 1)
    with pytest.raises(KeyError, match="NoSuchName"):
        tunable("NoSuchName")
