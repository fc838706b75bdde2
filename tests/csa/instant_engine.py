"""An engine without a process: it answers each search at once with the first legal move."""

from __future__ import annotations

from collections.abc import Callable

from usi_engine.core import board_of, load_core
from usi_engine.usi.driver import BestMove, Engine, EngineEvent


class InstantEngine(Engine):
    """Posts its answers to `post`; `results` has what it was told at the ends of games."""

    def __init__(self, post: Callable[[EngineEvent], None]) -> None:
        super().__init__([], {}, post)
        self.results: list[str] = []

    @property
    def busy(self) -> bool:
        return False

    def prepare(self, max_moves: int = 0) -> None:
        pass

    def new_game(self) -> None:
        pass

    def go(self, position: str, clocks: str, ponder: bool = False) -> int:
        self._searches += 1
        moves = board_of(load_core(), position).legal_moves()
        self._post(BestMove(self._searches, moves[0] if moves else "resign"))
        return self._searches

    def game_over(self, result: str) -> None:
        self.results.append(result)

    def quit(self) -> None:
        pass
