"""A person's game against the engine, or of two people: who moves, clocks, moves taken back. It prints nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from usi_engine.csa.clock import Clocks, TimeControl
from usi_engine.game.skill import FULL_STRENGTH
from usi_engine.language import _
from usi_engine.play.game import OTHER, SIGNS, LiveGame
from usi_engine.play.moves import MoveError, read_move
from usi_engine.play.record import PLAYER, engine_name

SIDES = {"black": "b", "white": "w", "both": ""}  # the person's


def side_of(name: str) -> str:
    """Return the letter of a side, one of SIDES or `random`."""
    return random.choice("bw") if name == "random" else SIDES[name]


def control_of(minutes: float, byoyomi: float, increment: float) -> TimeControl:
    """Return a clock; byoyomi and increment are in seconds."""
    return TimeControl(int(minutes * 60_000), int(byoyomi * 1000), int(increment * 1000), 1)


@dataclass
class Settings:
    """Settings of the game. `side`: the person's, `b` or `w`; empty: two people. `seconds`: the engine's time for a
    move in a game without a clock.
    """

    side: str = "b"
    level: int = FULL_STRENGTH
    seconds: float = 2.0
    control: TimeControl = field(default_factory=TimeControl)

    @property
    def side_name(self) -> str:
        """The name of the side in SIDES."""
        return next(name for name, letter in SIDES.items() if letter == self.side)


class Match:
    """A game with its settings and clocks. All times are in milliseconds."""

    def __init__(self, game: LiveGame, settings: Settings) -> None:
        self.game, self.settings = game, settings
        self._clocks = self._new_clocks()
        self._unclocked = len(game.moves)  # a resumed game was played on other clocks

    @property
    def engine_moves(self) -> bool:
        """True if the engine is to move."""
        return self.game.ending is None and self.game.turn == OTHER.get(self.settings.side)

    @property
    def person_moves(self) -> bool:
        """True if a person is to move."""
        return self.game.ending is None and not self.engine_moves

    @property
    def has_clock(self) -> bool:
        """True if the players' time is limited."""
        return not self.settings.control.is_unlimited()

    @property
    def players(self) -> tuple[str, str]:
        """The names of Black and White."""
        engine = engine_name(self.settings.level)
        by_side = {"b": (PLAYER, engine), "w": (engine, PLAYER), "": (PLAYER, PLAYER)}
        return by_side[self.settings.side]

    def shown_name(self, side: str) -> str:
        """Return the name of the player of `b` or `w` in the language of messages."""
        if OTHER[side] == self.settings.side:
            return engine_name(self.settings.level, _("level"))
        return _("Player")

    def continuation(self, option: str = "") -> str:
        """Return the command that continues a game; empty if it has ended or has no moves."""
        if self.game.ending or not self.game.moves:
            return ""
        level, side = self.settings.level, self.settings.side_name
        position = f'"{self.game.position}"' if "*" in self.game.position else self.game.position  # shells match names
        words = ["usi_engine play", option, position, f"--level {level} --side {side}"]
        return " ".join(filter(None, words))

    def left(self, side: str) -> int:
        """Return the main time that `b` or `w` has left at the start of its move, with the move's increment.

        After a loss on time it is the negative byoyomi: nothing is left of both.
        """
        if self.game.turn == side and self.game.ending and self.game.ending.reason == "time":
            return -self.settings.control.byoyomi
        return self._clocks.left[SIGNS[side]] + self.settings.control.increment

    def allowed(self) -> int:
        """Return the longest time of the next move."""
        return self.left(self.game.turn) + self.settings.control.byoyomi

    def go_words(self) -> str:
        """Return the arguments of the engine's next `go`; with a `movetime` it would not use its book."""
        if self.has_clock:
            return self._clocks.go_words(SIGNS[self.game.turn])
        return f"btime 0 wtime 0 byoyomi {int(self.settings.seconds * 1000)}"

    def move(self, text: str, milliseconds: int) -> None:
        """Make a move that took this time, or lose on time. MoveError if it is not legal."""
        mover, move = self.game.turn, read_move(text, self.game.board)
        if self.lose_on_time(milliseconds):
            return
        if self.has_clock:
            self._clocks.spend(SIGNS[mover], milliseconds)
        self.game.push(move, milliseconds)

    def answer(self, answer: str, milliseconds: int) -> None:
        """Carry out the engine's answer: a move, `resign` or `win` (a declaration)."""
        if answer == "resign":
            self.game.end("resignation", OTHER[self.game.turn])
        elif answer == "win":
            self.game.end("declaration", self.game.turn)
        else:
            self.move(answer, milliseconds)

    def lose_on_time(self, milliseconds: int) -> bool:
        """End the game if the side to move has thought for too long; return True then."""
        late = self.has_clock and milliseconds > self.allowed()
        if late:
            self.game.end("time", OTHER[self.game.turn])
        return late

    def take_back(self) -> None:
        """Go back to the person's last turn: take back the person's move and the answer to it, if any. MoveError."""
        own_turn = self.game.turn == self.settings.side and (self.game.ending is None or len(self.game.moves) > 1)
        count = 2 if own_turn else 1
        if len(self.game.moves) < count:
            raise MoveError(_("there is no move to take back"))
        for _move in range(count):
            self.game.pop()
        self._set_clocks()

    def resign(self) -> None:
        """Resign for the person, who must be to move."""
        self.game.end("resignation", OTHER[self.game.turn])

    def declare(self) -> None:
        """Declare the person's win (entering king). MoveError if the rules do not allow it."""
        if not self.can_declare():
            raise MoveError(_("a win cannot be declared here"))
        self.game.end("declaration", self.game.turn)

    def can_declare(self) -> bool:
        """Return True if the person to move can declare a win."""
        return self.person_moves and self.game.board.can_declare()

    def _new_clocks(self) -> Clocks:
        return Clocks({"+": self.settings.control, "-": self.settings.control})

    def _set_clocks(self) -> None:
        """Set the clocks to the time after the last remaining move."""
        self._clocks = self._new_clocks()
        self._unclocked = min(self._unclocked, len(self.game.moves))
        mover = self.game.start.split()[1]
        for number, milliseconds in enumerate(self.game.milliseconds):
            if number >= self._unclocked:
                self._clocks.spend(SIGNS[mover], milliseconds)
            mover = OTHER[mover]
