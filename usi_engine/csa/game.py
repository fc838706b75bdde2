"""One game on a CSA server: events of the server and the engine, and the answers to them."""

import time
from collections.abc import Callable, Sequence

from usi_engine.clock import Clock
from usi_engine.csa import protocol
from usi_engine.csa.protocol import Cause, Event, GameSummary, MoveMade, Outcome, Special
from usi_engine.language import _
from usi_engine.records.notation import name_moves
from usi_engine.records.position import read_position
from usi_engine.records.tree import Node, unmarked_text
from usi_engine.rules import End, LiveGame
from usi_engine.usi.process import DECLARATION, Answer, EngineError, EngineGone, EngineProcess
from usi_engine.usi.protocol import Times, position_words

# A game is resigned if the engine process ends by itself more often than this.
MOST_RESTARTS = 2
MOST_PV_MOVES = 20  # in a comment
BROKEN_OFF, CUT = "CHUDAN", "CUT"  # causes: the first also of a verdict without one, the other of a lost connection
# Values of EnteringKingRule by the rules that servers announce. Jishogi 1.1 is the 27-point rule of the championship.
DECLARATIONS = {"Jishogi 1.1": "CSARule27"}
# Reasons of ends by the server's causes.
REASONS = {
    "RESIGN": "resignation", "TIME_UP": "time", "ILLEGAL_MOVE": "illegal move", "ILLEGAL_ACTION": "illegal move",
    "OUTE_SENNICHITE": "perpetual check", "SENNICHITE": "repetition", "MAX_MOVES": "move limit",
    "JISHOGI": "declaration",
}  # fmt: skip


def make_end(result: str, cause: str, side: int) -> End:
    """Return the end of a game with this result for `side`."""
    if result == "unknown":
        return End("interrupted")
    if result == "draw":
        return End("impasse" if cause == "JISHOGI" else REASONS.get(cause, "draw"))
    return End(REASONS.get(cause, "interrupted"), side if result == "win" else 1 - side)


def offered_game(summary: GameSummary) -> LiveGame:
    """Return the game at its start. ValueError if the position cannot be read."""
    start = read_position(summary.position)
    if not {"K", "k"} <= set(start.partition(" ")[0]):
        raise ValueError(_("a king is missing in '{position}'").format(position=start))
    return LiveGame(start, clock=Clock(*summary.controls))


def line_in_csa(game: LiveGame, moves: Sequence[str]) -> list[str]:
    """Return a line from the game's position in CSA, up to its first illegal move."""
    named = name_moves(game.board, moves[:MOST_PV_MOVES], lambda board, move: board.csa(move))
    return [move.text for move in named]


def floodgate_comment(game: LiveGame, value: int | None, pv: Sequence[str]) -> str:
    """Return the value and line of the next move in floodgate's form, `* VALUE REPLY ...`; empty without a value.

    `value` is the mover's, the comment's is Black's. `pv` begins with the move itself, the comment with the reply.
    """
    if value is None:
        return ""
    return " ".join([f"* {-value if game.turn else value}", *line_in_csa(game, pv)[1:]])


class ServerGame:
    """A game from the agreement on. ValueError if the start position or the moves made before cannot be read.

    The server decides when and how it ends: `end` is its verdict, for the reason `cause` in its own words.
    """

    def __init__(
        self,
        summary: GameSummary,
        engine: EngineProcess,
        send: Callable[[str], None],
        note: Callable[[str], None],
        *,
        ponder: bool = False,
        margin_ms: int = 0,
    ) -> None:
        self.summary, self.begun = summary, time.time()
        self.game, self._comments = offered_game(summary), list[str]()
        self.end: End | None = None
        self.cause, self.result = "", "unknown"  # ours: `win`, `lose`, `draw`, `unknown`
        self.last_ms: int | None = None  # time of the resignation or declaration that ended the game
        self._engine, self._send, self._note, self._may_ponder = engine, send, note, ponder
        self._margin_ms = margin_ms
        self._awaited = 0  # the search whose answer is to be sent; 0: none
        self._comment = self._reply = ""
        self._restarts = 0
        for made in summary.moves:
            self._record_move(made)

    @property
    def played(self) -> list[Node]:
        """The moves with their times and comments; another thread may read them."""
        return list(map(Node, self.game.moves, self.game.milliseconds, self._comments))

    def prepare(self) -> None:
        """Prepare the engine for the rules of this game. EngineError."""
        rule = DECLARATIONS.get(self.summary.declaration, "NoEnteringKing")
        self._engine.prepare(self.summary.max_moves, rule)

    def _may_declare(self) -> bool:
        return self.summary.declaration in DECLARATIONS or self._engine.sets(DECLARATION)

    def begin(self) -> None:
        """Begin the game after both players have agreed."""
        if not self._may_declare():
            text = _("the server's rule of declaration is '{rule}': no win is declared without {option}")
            self._note(text.format(rule=self.summary.declaration, option=f"--option {DECLARATION}=CSARule27"))
        self._engine.new_game()
        self._start_turn()

    def handle(self, event: Event | Answer | EngineGone) -> None:
        """Handle an event; the last one sets `end`. EngineError."""
        if isinstance(event, MoveMade):
            self._take_move(event)
        elif isinstance(event, Answer):
            self._answer(event)
        elif isinstance(event, EngineGone):
            if event.start == self._engine.starts:
                self._restart(event.status)
        elif isinstance(event, Special):
            if event.units is not None:  # shogi-server repeats a declaration without its time
                self.last_ms = self.summary.milliseconds(event.units, self.summary.side)
        elif isinstance(event, Cause):
            self.cause = event.word
        elif isinstance(event, Outcome):
            self.finish(event.result, self.cause or BROKEN_OFF)

    def interrupt(self) -> None:
        """Ask the server to break the game off."""
        self._send(protocol.INTERRUPT)

    def finish(self, result: str, cause: str) -> None:
        """End the game and tell the engine the result."""
        self.result, self.cause, self.end = result, cause, make_end(result, cause, self.summary.side)
        self._awaited = 0
        self._engine.game_over(result)

    def _record_move(self, made: MoveMade) -> None:
        comment, self._comment = self._comment, ""
        try:
            move = self.game.board.parse_csa(made.csa)
        except ValueError:
            raise ValueError(_("illegal move: '{move}'").format(move=made.csa)) from None
        self.game.push(move, self.summary.milliseconds(made.units, made.side))
        self._comments.append(unmarked_text(comment))

    def _take_move(self, made: MoveMade) -> None:
        try:
            self._record_move(made)
        except ValueError:
            # The server decides: its verdict follows.
            text = _("the server sent the illegal move '{move}' in '{position}'")
            self._note(text.format(move=made.csa, position=self.game.position))
            return
        self._awaited = 0  # the server may make our move for us; the engine's answer is then of no use
        self._start_turn()

    def _start_turn(self) -> None:
        if self.game.turn == self.summary.side:
            self._think()
        elif self._may_ponder and self._reply and line_in_csa(self.game, [self._reply]):
            position = position_words(self.game.start, [*self.game.moves, self._reply])
            self._engine.go(position, self._go_words(), ponder=True)
            self._reply = ""

    def _think(self) -> None:
        self._awaited = self._engine.go(self.game.position, self._go_words())

    def _go_words(self) -> str:
        return Times.of(self.game.clock, self.summary.side, self._margin_ms).words()

    def _answer(self, answer: Answer) -> None:
        if answer.search != self._awaited:
            return
        self._awaited = 0
        words = {"resign": protocol.RESIGN} | ({"win": protocol.DECLARE_WIN} if self._may_declare() else {})
        move = answer.move or ""
        if move in words:
            self._send(words[move])
            return
        try:
            csa = self.game.board.csa(move)
        except ValueError:
            self._note(_("resigning, because the engine answered the illegal move '{move}'").format(move=move))
            self._send(protocol.RESIGN)
            return
        self._comment = floodgate_comment(self.game, answer.line.value, answer.line.pv)
        self._reply = answer.ponder
        self._send(f"{csa},'{self._comment}" if self._comment else csa)

    def _restart(self, status: str) -> None:
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            self._send(protocol.RESIGN)
            raise EngineError(_("the engine has ended by itself too often"))
        self._note(_("the engine has ended by itself ({status}); starting it again").format(status=status))
        self.prepare()
        if self._awaited:
            self._think()
