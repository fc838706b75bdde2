"""Checks that bootstrap.py makes before it creates a virtual environment."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "bootstrap.py"


def load() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for MSVC by itself")
@pytest.mark.parametrize("compiler", ["/no/such/compiler", "false"])
def test_no_environment_is_made_without_a_working_compiler(compiler: str, tmp_path: Path) -> None:
    """One line of error. macOS has a compiler that fails until the developer tools are installed."""
    made = tmp_path / "環境 1"
    environment = os.environ | {"CC": f"{compiler} -O2"}
    command = [sys.executable, str(FILE), str(made)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, made.exists(), done.stdout, done.stderr.count("\n")) == (1, False, "", 1)
    assert done.stderr.startswith(f"there is no C compiler '{compiler}'; ")


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = load()["main"]
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert main() == 1
    assert re.search("Python 3.10 or newer is needed.* is 3.9.1; name another Python: make run PYTHON=NAME",
                     capsys.readouterr().err)  # fmt: skip


def test_build_requirements_are_read_from_pyproject() -> None:
    names = [text.split(">")[0] for text in load()["requirements"]()]
    assert names == ["setuptools", "cython", "babel"]
