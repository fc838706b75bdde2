"""An engine without a process: it answers each search at once with the first legal move."""

from collections.abc import Callable

from tests.csa.server import START_POSITION, summary
from usi_engine.core import board_of
from usi_engine.csa.game import ServerGame
from usi_engine.csa.protocol import GameSummary, MoveMade, Reader
from usi_engine.usi.process import Answer, EngineEvent, EngineProcess


class InstantEngine(EngineProcess):
    """Posts its answers to `post`; `goes` has the positions of its searches, `received` the ends of games."""

    def __init__(self, post: Callable[[EngineEvent], None]) -> None:
        super().__init__([], {}, post)
        self.goes: list[str] = []
        self.received: list[str] = []

    @property
    def busy(self) -> bool:
        return False

    def prepare(self, max_moves: int = 0, declaration: str = "") -> None:
        pass

    def new_game(self) -> None:
        pass

    def go(self, position: str, limits: str, ponder: bool = False) -> int:
        self._searches += 1
        self.goes.append(position.removeprefix("startpos moves ") + (" ponder" if ponder else ""))
        moves = board_of(position).legal_moves()
        self._post(Answer(self._searches, moves[0] if moves else "resign"))
        return self._searches

    def game_over(self, result: str) -> None:
        self.received.append(f"gameover {result}")

    def quit(self) -> None:
        pass


def offer(game_id: str = "id", position: str = START_POSITION) -> GameSummary:
    """Return the conditions of a game."""
    reader = Reader()
    *_, read = (reader.feed(line) for line in summary(game_id, position=position).splitlines())
    assert isinstance(read, GameSummary)
    return read


def game_of(
    *moves: str,
    game_id: str = "id",
    position: str = START_POSITION,
    engine: EngineProcess | None = None,
    ponder: bool = False,
) -> ServerGame:
    """Return a game after these moves. `position` may have further ones, one a line."""
    engine = engine or InstantEngine(lambda event: None)
    game = ServerGame(offer(game_id, position), engine, lambda line: None, lambda text: None, ponder=ponder)
    for move in moves:
        game.handle(MoveMade(move))
    return game
