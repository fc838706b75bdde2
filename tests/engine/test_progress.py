"""Progress of long runs."""

import io
import sys

import pytest

from usi_engine.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("game.kif", 3, every=0) as progress:
        for _ in range(3):
            progress.add()
    assert ("game.kif" in stream.getvalue()) == terminal


def test_a_log_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of earlier runs are in the count, not in the rate."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("games", 40, 10, every=1e-9) as progress:
        progress.add(2, 100, "a note")
    assert stream.getvalue().startswith("12/40 games, 100 positions, ")
    assert progress.line(10) == "12/40 games, 100 positions, 10 a second, 2.3 min left"
    progress = Progress("positions")
    progress.add(5)
    assert progress.line(10, "a note") == "5 positions, 0.5 a second, a note"
