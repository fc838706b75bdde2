"""The progress bar with and without tqdm."""

import io
import sys
from typing import Any

import pytest

from usi_engine.analysis import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def missing(name: str) -> Any:
    raise ImportError(name)


@pytest.mark.parametrize("with_tqdm", [True, False])
@pytest.mark.parametrize("terminal", [True, False])
def test_steps_are_shown_on_a_terminal_only(with_tqdm: bool, terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    if not with_tqdm:
        monkeypatch.setattr(progress, "import_module", missing)
    with progress.progress(3, "game.kif") as step:
        for _ in range(3):
            step()
    assert ("3" in stream.getvalue()) == terminal
