"""The progress bar."""

import io
import sys

import pytest

from usi_engine.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_are_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(3, "game.kif") as step:
        for _ in range(3):
            step()
    assert ("game.kif" in stream.getvalue()) == terminal
