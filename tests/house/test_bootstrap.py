"""What bootstrap.py checks before it sets anything up."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "bootstrap.py"


def loaded() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "win32":  # there setuptools looks for MSVC by itself
        monkeypatch.setenv("CC", "/no/such/compiler -O2")
        assert loaded()["missing"]() == "there is no C compiler '/no/such/compiler'"


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = loaded()["main"]
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert main() == 1
    assert "Python 3.10 or newer is needed" in capsys.readouterr().err


def test_the_build_requirements_are_those_of_the_project() -> None:
    names = [text.split(">")[0] for text in loaded()["requirements"]()]
    assert names == ["setuptools", "cython"]
