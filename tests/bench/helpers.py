"""Positions and a runner for tests of the benches."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

# No capture and no mate.
QUIET = "4k4/9/9/9/9/4G4/9/9/4K4 b - 1"
MATE_IN_ONE = "7k1/6P2/7G1/8L/9/9/9/9/9 b 2r2b3g4s4n3l17p 1"


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Run the main function of a bench with these arguments."""
    monkeypatch.setattr(sys, "argv", ["tool", *arguments])
    return module.main()


def run_line(module: ModuleType, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Play games with the options of this line, which has the name of the bench first."""
    monkeypatch.setattr(sys, "argv", line.split())
    module.run(module.parse())
