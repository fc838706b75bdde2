"""A runner for tests of the benches."""

import sys
from types import ModuleType
from typing import Any

import pytest


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Run the main function of a bench with these arguments."""
    monkeypatch.setattr(sys, "argv", ["tool", *arguments])
    return module.main()


def run_line(module: ModuleType, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Play games with the options of this line, which has the name of the bench first."""
    monkeypatch.setattr(sys, "argv", line.split())
    module.run(module.parse())
