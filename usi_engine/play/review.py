"""The analysis of a finished game, made in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from usi_engine.analysis.analyst import Analyst, Limits, analyse, confirm, in_words
from usi_engine.analysis.page import page_text
from usi_engine.analysis.puzzles import find_puzzles
from usi_engine.core import CoreError
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import text_of
from usi_engine.records.games import Game
from usi_engine.records.tree import Record
from usi_engine.search.results import Analysis, Limit

# A game of 100 moves takes a few seconds.
NODES = 20_000
LINES = 2  # puzzles compare the best move with the second


class Cancelled(Exception):
    """The analysis was cancelled."""


class Review:
    """An analysis of a game. `changed` is called on its thread after each position and at the end.

    `nodes` are those of the game, with what is known of them so far. `page` is the HTML page, empty until it is ready;
    `fault` says why there is none.
    """

    def __init__(self, record: Record, evaluation: str, changed: Callable[[], None]) -> None:
        self._game = Game(**vars(record), path=Path("game.kif"), kind="kif")
        self._limits, self._changed = Limits(Limit(nodes=NODES), evaluation=evaluation, multipv=LINES), changed
        self._cancelled = threading.Event()
        self.nodes = [self._game.root, *self._game.main_line]
        self.done, self.count, self.page, self.fault = 0, len(self._game.moves) + 1, "", ""

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="review", daemon=True).start()

    def cancel(self) -> None:
        """End after the current position."""
        self._cancelled.set()

    def progress(self) -> dict[str, Any]:
        """Return how far it is, for a page."""
        return {"done": self.done, "count": self.count, "ready": bool(self.page), "fault": self.fault}

    def _run(self) -> None:
        try:
            self.page = self._analysed()
        except Cancelled:
            return
        except (CoreError, WeightsError, MemoryError) as error:
            self.fault = text_of(error)
        except Exception as error:  # without a fault the page would wait for ever
            self.fault = f"{type(error).__name__}: {error}"
        self._changed()

    def _analysed(self) -> str:
        """Return the page. Cancelled."""
        game, analyst = self._game, Analyst(self._limits)

        def search(ply: int, effort: int, lines: int) -> Analysis:
            self._check()
            known = self.nodes[ply].analysis if effort == 1 and lines <= LINES else None
            return known or analyst.evaluate(game.board(ply), lines, effort=effort)

        for _node in analyse(game, lambda _number, board: analyst.evaluate(board)):
            self._check()
            self.done += 1
            self._changed()
        for _node in confirm(game, lambda _number, board, effort: analyst.evaluate(board, effort=effort)):
            self._check()
            self._changed()
        return page_text(game, in_words(self._limits), find_puzzles(game, search))

    def _check(self) -> None:
        """Raise Cancelled after `cancel`."""
        if self._cancelled.is_set():
            raise Cancelled
