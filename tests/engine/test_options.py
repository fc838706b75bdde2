"""The USI options: declarations, clamping, refusals."""

from __future__ import annotations

import os
import re

import pytest

from usi_engine.usi.options import DECLARED, ENTERING_KING_RULES, Options, default_threads

DECLARATION = re.compile(
    r"option name [A-Za-z0-9_]+ type "
    r"(spin default -?\d+ min -?\d+ max -?\d+|check default (true|false)|"
    r"combo default \S+( var \S+)+|(string|filename) default \S+)"
)


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (4, 4), (64, 4)])
def test_threads_by_default(monkeypatch: pytest.MonkeyPatch, cores: int, threads: int) -> None:
    """min(4, cores that the process may use)."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert default_threads() == threads


def test_declarations_have_the_protocols_form() -> None:
    """No spaces in names, defaults or combo words; one line each."""
    lines = Options().declarations()
    assert len(lines) == len(DECLARED)
    assert all(DECLARATION.fullmatch(line) for line in lines)


@pytest.mark.parametrize("name", DECLARED)
def test_defaults_can_be_set(name: str) -> None:
    """Every default can be set, which changes nothing."""
    options = Options()
    before = options.shown(name)
    assert options.set(name, "" if before == "<empty>" else before) is None
    assert options.shown(name) == before


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), (" 4 ", 4), ("4.0", 4), ("0", 1), ("-9", 1), ("99999999999", 512), ("513", 512)],
)
def test_spin(text: str, value: int) -> None:
    """Numbers are clamped."""
    options = Options()
    assert options.set("Threads", text) is None
    assert options.number("threads".title()) == value


@pytest.mark.parametrize("text", ["", "many", "nan", "inf", "1e999", "0x10", "four"])
def test_bad_spin(text: str) -> None:
    """What is not a number changes nothing and is quoted."""
    options = Options()
    options.set("Threads", "3")
    refusal = options.set("Threads", text)
    assert refusal is not None and f"'{text}'" in refusal and refusal.endswith("stays 3")
    assert options.number("Threads") == 3


def test_check() -> None:
    """True and false as GUIs write them."""
    options = Options()
    for text, value in (("true", True), ("FALSE", False), ("1", True), ("0", False), ("on", True), ("off", False)):
        assert options.set("USI_Ponder", text) is None
        assert options.flag("USI_Ponder") is value
    assert options.set("USI_Ponder", "") is not None


def test_combo() -> None:
    """Each word of a combo can be set in any case; another cannot."""
    options = Options()
    for rule in ENTERING_KING_RULES:
        assert options.set("enteringkingrule", rule.upper()) is None
        assert options.text("EnteringKingRule") == rule
    assert options.set("EnteringKingRule", "CSARule28") is not None
    assert options.text("EnteringKingRule") == "TryRule"


def test_unknown() -> None:
    """An unknown name is quoted."""
    assert "'Foo'" in (Options().set("Foo", "1") or "")
    assert Options().listing("Foo") == []
