"""Checks that bootstrap.py makes before it creates a virtual environment."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "bootstrap.py"


def load() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "win32":  # there setuptools looks for MSVC by itself
        monkeypatch.setenv("CC", "/no/such/compiler -O2")
        assert load()["missing"]() == "there is no C compiler '/no/such/compiler'"


def test_no_environment_is_made_without_a_compiler(tmp_path: Path) -> None:
    """One line of error. Packages are installed only for root and the system's Python."""
    made = tmp_path / "環境 1"
    environment = os.environ | {"CC": "/no/such/compiler", "PATH": str(tmp_path)}
    command = [sys.executable, str(FILE), str(made)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=60)
    if sys.platform != "win32":
        assert done.returncode == 1
        assert not made.exists()
        assert done.stdout == ""
        assert done.stderr.startswith("there is no C compiler '/no/such/compiler'; ")
        assert len(done.stderr.splitlines()) == 1


def test_a_compiler_that_fails_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has a stub that fails until the developer tools are installed."""
    if sys.platform != "win32":
        monkeypatch.setenv("CC", "false")
        assert load()["missing"]() == "there is no C compiler 'false'"


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = load()["main"]
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert main() == 1
    told = capsys.readouterr().err
    assert "Python 3.10 or newer is needed" in told
    assert "is 3.9.1; name another Python: make run PYTHON=NAME" in told


def test_build_requirements_are_read_from_pyproject() -> None:
    names = [text.split(">")[0] for text in load()["requirements"]()]
    assert names == ["setuptools", "cython"]
