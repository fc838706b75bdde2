"""The analysis of a finished game, made in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.limits import Limits, in_words
from usi_engine.analysis.page import page_text
from usi_engine.analysis.report import analysed
from usi_engine.core import CoreError, load_core, text_of
from usi_engine.evaluation.names import WeightsError
from usi_engine.records.games import Game
from usi_engine.records.tree import Record

# A game of 100 moves takes a few seconds.
NODES = 20_000


class Review:
    """An analysis of a game. `changed` is called on its thread after each position and at the end.

    `page` is the HTML page, empty until it is ready. `fault` says why there is none.
    """

    def __init__(self, record: Record, evaluation: str, changed: Callable[[], None]) -> None:
        moves = tuple(node.move for node in record.main_line)
        self._game = Game(Path("game.kif"), 1, 1, "kif", record.start, moves, record)
        self._limits, self._changed = Limits(NODES, evaluation=evaluation), changed
        self._cancelled = threading.Event()
        self.done, self.count, self.page, self.fault = 0, len(moves) + 1, "", ""

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="review", daemon=True).start()

    def cancel(self) -> None:
        """End after the position that is searched."""
        self._cancelled.set()

    def _run(self) -> None:
        try:
            self.page = self._analysed()
        except (CoreError, WeightsError, MemoryError) as error:
            self.fault = text_of(error)
        self._changed()

    def _analysed(self) -> str:
        """Return the page; empty if cancelled."""
        game, analyst, found = self._game, Analyst(self._limits), []
        board = load_core().board(game.start)
        for move in [*game.moves, ""]:
            found.append(analyst.evaluate(board))
            if self._cancelled.is_set():
                return ""
            self.done += 1
            self._changed()
            if move:
                board.push(move)
        return page_text(analysed(game, found), in_words(self._limits))
