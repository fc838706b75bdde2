"""The player's opponent: the session that a GUI would talk to, on a thread of this process."""

from __future__ import annotations

import io
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from usi_engine.core import Core, CoreError, load_core
from usi_engine.game.session import Session
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Quit, parse

HINT_MILLISECONDS = 1000
WATCH_SECONDS = 0.1  # between two checks for Ctrl-C
STRING = "info string "


class Lines(Writer):
    """A writer that queues lines instead of writing them."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.written: queue.SimpleQueue[str] = queue.SimpleQueue()

    def lines(self, texts: list[str]) -> None:
        """Queue lines."""
        for text in texts:
            self.written.put(text)


@dataclass(frozen=True)
class Thought:
    """An answer: a move, `resign` or `win`; value as in USI (`cp 35`, `mate 5`; empty without a search); best line.

    The value and the line of a move from the book are the book's.
    """

    move: str
    score: str = ""
    pv: tuple[str, ...] = ()
    from_book: bool = False


class Opponent:
    """The engine as an opponent that answers one question at a time. `say` gets its messages to the user."""

    def __init__(self, say: Callable[[str], None], load: Callable[[], Core] = load_core) -> None:
        self._say, self._output = say, Lines()
        self._session = Session(self._output, load)
        self._thread = threading.Thread(target=self._session.run, name="engine", daemon=True)
        self._thread.start()

    def set(self, name: str, value: int | str) -> None:
        """Set an option."""
        self._send(f"setoption name {name} value {value}")

    def new_game(self) -> None:
        """Load the engine if needed and forget the previous game."""
        self._send("isready")
        self._until("readyok")
        self._send("usinewgame")

    def think(self, position: str, go: str, level: int) -> Thought:
        """Search a position at this level. KeyboardInterrupt ends the search."""
        self.ask(position, go, level)
        try:
            return self.answer()
        except KeyboardInterrupt:
            self.stop()
            self._until("bestmove")
            raise

    def ask(self, position: str, go: str, level: int) -> None:
        """Queue the search of a position at this level. `answer` must be called once for each."""
        self.set("SkillLevel", level)
        self._send(f"position {position}")
        self._send(f"go {go}")

    def stop(self) -> None:
        """Stop the queued searches; each still gets its answer."""
        self._send("stop")

    def forget_game(self) -> None:
        """Forget the previous game; also allowed during a search."""
        self._send("usinewgame")

    def close(self) -> None:
        """End the session."""
        self._session.post(Quit())
        self._thread.join()

    def _send(self, line: str) -> None:
        self._session.post(parse(line))

    def answer(self) -> Thought:
        """Wait for the end of the next queued search and return its answer."""
        score, pv, searched = "", tuple[str, ...](), False
        while True:
            line = self._line()
            if line.startswith("bestmove"):
                return Thought(line.split()[1], score, pv, score.startswith("cp") and not searched)
            if " pv " in line:
                score = line.partition(" score ")[2].partition(" nodes ")[0]
                pv = tuple(line.partition(" pv ")[2].split())
                searched = " nodes 0 " not in line  # the book's line, and a mate found by the solver, have none

    def _until(self, word: str) -> None:
        while not self._line().startswith(word):
            pass

    def _line(self) -> str:
        """Return the next line; pass on the engine's messages before it. CoreError."""
        while True:
            try:
                line = self._output.written.get(timeout=WATCH_SECONDS)
            except queue.Empty:
                if self._thread.is_alive():
                    continue
                raise CoreError("the engine has ended") from None
            if not line.startswith(STRING):
                return line
            self._say(line.removeprefix(STRING))
