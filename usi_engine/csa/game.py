"""One game on a CSA server: events of the server and the engine, and the answers to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from usi_engine.csa import protocol
from usi_engine.csa.clock import Clocks
from usi_engine.csa.position import GamePosition, floodgate_comment
from usi_engine.csa.protocol import Cause, Event, GameSummary, MoveMade, Outcome, Special
from usi_engine.language import _
from usi_engine.records.tree import unmarked_text
from usi_engine.records.writer import TimedMove
from usi_engine.usi.driver import BestMove, Engine, EngineError, EngineGone

# A game is resigned if the engine process ends by itself more often than this.
MOST_RESTARTS = 2


@dataclass(frozen=True)
class Ending:
    """The end of a game: `result` is ours (`win`, `lose`, `draw`, `unknown`), `cause` the server's word, or `CUT`."""

    result: str
    cause: str


class ServerGame:
    """A game from the agreement on. ValueError if the start position or the moves made before cannot be read."""

    def __init__(
        self,
        summary: GameSummary,
        engine: Engine,
        send: Callable[[str], None],
        note: Callable[[str], None],
        *,
        ponder: bool = False,
        margin_ms: int = 0,
    ) -> None:
        self.summary, self.begun = summary, time.time()
        self.position = GamePosition(summary.position)
        self.played: list[TimedMove] = []
        self.ending: Ending | None = None
        self.last_ms: int | None = None  # time of the resignation or declaration that ended the game
        self._engine, self._send, self._note, self._may_ponder = engine, send, note, ponder
        self._margin_ms = margin_ms
        self._clocks = Clocks(summary.controls)
        self._awaited = 0  # the search whose answer is to be sent; 0: none
        self._pondering = 0  # the last search on the opponent's time
        self._comment = self._reply = self._pondered = self._cause = ""
        self._restarts = 0
        for made in summary.moves:
            self._record_move(made)

    def begin(self) -> None:
        """Begin the game after both players have agreed."""
        self._engine.new_game()
        self._start_turn()

    def handle(self, event: Event | BestMove | EngineGone) -> None:
        """Handle an event; the last one sets `ending`. EngineError."""
        if isinstance(event, MoveMade):
            self._take_move(event)
        elif isinstance(event, BestMove):
            self._answer(event)
        elif isinstance(event, EngineGone):
            if event.start == self._engine.starts:
                self._restart()
        elif isinstance(event, Special):
            self._take_special(event)
        elif isinstance(event, Cause):
            self._cause = event.word
        elif isinstance(event, Outcome):
            self.end(Ending(event.result, self._cause or "CHUDAN"))

    def interrupt(self) -> None:
        """Ask the server to break the game off."""
        self._send(protocol.INTERRUPT)

    def end(self, ending: Ending) -> None:
        """End the game and tell the engine the result."""
        self.ending = ending
        self._awaited = 0
        self._engine.game_over(ending.result)

    def _record_move(self, made: MoveMade) -> None:
        comment, self._comment = self._comment, ""
        usi = self.position.push(made.csa)
        self.played.append(TimedMove(usi, self._clocks.spend(made.color, made.units), unmarked_text(comment)))

    def _take_move(self, made: MoveMade) -> None:
        try:
            self._record_move(made)
        except ValueError:
            # The server decides: its verdict follows.
            text = _("the server sent the illegal move '{move}' in '{position}'")
            self._note(text.format(move=made.csa, position=self.position.command()))
            return
        self._awaited = 0  # the server may make our move for us; the engine's answer is then of no use
        self._start_turn()

    def _take_special(self, special: Special) -> None:
        # shogi-server repeats a declaration without its time.
        if special.units is not None:
            self.last_ms = self.summary.controls[self.summary.color].milliseconds(special.units)

    def _start_turn(self) -> None:
        if self.position.turn == self.summary.color:
            self._think()
        elif self._may_ponder and self._reply and self.position.line([self._reply]):
            self._ponder()

    def _think(self) -> None:
        hit = self._pondered and self.position.moves[-1] == self._pondered and self._engine.busy
        self._pondered = ""
        if hit:
            self._awaited = self._pondering
            self._engine.ponderhit()
        else:
            self._awaited = self._engine.go(self.position.command(), self._go_words())

    def _ponder(self) -> None:
        self._pondered, self._reply = self._reply, ""
        self._pondering = self._engine.go(self.position.command(self._pondered), self._go_words(), ponder=True)

    def _go_words(self) -> str:
        return self._clocks.go_words(self.summary.color, self._margin_ms)

    def _answer(self, answer: BestMove) -> None:
        if answer.search != self._awaited:
            return
        self._awaited = 0
        words = {"resign": protocol.RESIGN, "win": protocol.DECLARE_WIN}
        if answer.move in words:
            self._send(words[answer.move])
            return
        try:
            csa = self.position.csa(answer.move)
        except ValueError:
            self._note(_("resigning, because the engine answered the illegal move '{move}'").format(move=answer.move))
            self._send(protocol.RESIGN)
            return
        self._comment = floodgate_comment(self.position, answer.thought.value, answer.thought.pv)
        self._reply = answer.ponder
        self._send(protocol.move(csa, self._comment))

    def _restart(self) -> None:
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            self._send(protocol.RESIGN)
            raise EngineError(_("the engine has ended by itself too often"))
        self._note(_("the engine has ended by itself; starting it again"))
        self._engine.prepare(self.summary.max_moves)
        if self._awaited:
            self._think()
