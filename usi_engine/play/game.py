"""A person's game against the engine, or of two people: settings, who moves, moves taken back. It prints nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from usi_engine import NAME
from usi_engine.clock import Clock, TimeControl
from usi_engine.language import _, chosen
from usi_engine.play.moves import read_move
from usi_engine.records import position
from usi_engine.records.ends import BY_REASON
from usi_engine.records.formats import local_time
from usi_engine.records.tree import Record
from usi_engine.rules import End, LiveGame, MoveError
from usi_engine.search.skill import FULL_STRENGTH
from usi_engine.usi.arguments import DAY
from usi_engine.usi.protocol import STARTPOS, Go, Times

# White plays without some pieces, and moves first.
HANDICAPS = {
    name: position.HANDICAPS[word]
    for name, word in {
        "lance": "香落ち", "bishop": "角落ち", "rook": "飛車落ち", "rook-lance": "飛香落ち", "two": "二枚落ち",
        "four": "四枚落ち", "six": "六枚落ち", "eight": "八枚落ち", "ten": "十枚落ち",
    }.items()
}  # fmt: skip
EVEN = "even"
SIDES = {"black": 0, "white": 1, "both": None}  # the person's
CHOICES = {"side": (*SIDES, "random"), "handicap": (EVEN, *HANDICAPS)}
MOST = {"level": FULL_STRENGTH, "minutes": DAY / 60, "byoyomi": DAY, "increment": DAY, "seconds": DAY}
LONGEST_NAME = 40
PACE = 0.7, 1.5  # seconds that the engine lets a person wait at least
PACED_LEVEL = 12  # up to this level; higher ones take their time by themselves


OfBoth = float | tuple[float, float]  # for both sides, or for Black and White


@dataclass(frozen=True)
class Settings:
    """Settings of a game, as the command line and a page name them.

    `side`: the person's, one of SIDES or `random`. The clock has `minutes`, and seconds a move: `byoyomi`, `increment`.
    Without a clock, `seconds` is the engine's time for a move. `names`: the person's, or those of both persons.
    """

    level: int = FULL_STRENGTH
    side: str = "black"
    handicap: str = EVEN
    minutes: OfBoth = 0
    byoyomi: OfBoth = 0
    increment: OfBoth = 0
    seconds: float = 2.0
    names: tuple[str, str] = ("", "")

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Settings:
        """Return the settings in a page's data. MoveError quotes what is wrong."""
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(cls)):
            value = data.get(name)
            values[name] = tuple(value) if isinstance(value, list) and len(value) == 2 else value
            if not is_good(name, values[name]):
                raise MoveError(_("{name} cannot be '{value}'").format(name=name, value=value))
        return cls(**values)

    @property
    def start(self) -> str:
        """The start position."""
        return HANDICAPS.get(self.handicap, STARTPOS)

    @property
    def controls(self) -> tuple[TimeControl, TimeControl]:
        """The clocks of Black and White."""
        black, white = (
            TimeControl(int(minutes * 60_000), int(byoyomi * 1000), int(increment * 1000))
            for minutes, byoyomi, increment in zip(
                *map(pair, (self.minutes, self.byoyomi, self.increment)), strict=True
            )
        )
        return black, white

    def person(self) -> int | None:
        """Return the person's side, drawn by lot if it is `random`; None if both are."""
        return random.choice((0, 1)) if self.side == "random" else SIDES[self.side]

    def clock_words(self) -> list[str]:
        """Return the options of the command line for the clock."""
        values = {name: pair(getattr(self, name)) for name in ("minutes", "byoyomi", "increment")}
        parts = {name: ",".join(f"{part:g}" for part in dict.fromkeys(both)) for name, both in values.items()}
        return [f"--{name} {parts[name]}" for name, both in values.items() if any(both)]


def pair(value: OfBoth) -> tuple[float, float]:
    """Return what each side has."""
    return value if isinstance(value, tuple) else (value, value)


def is_good(name: str, value: object) -> bool:
    """Return whether a setting can have this value."""
    if name in CHOICES:
        return value in CHOICES[name]
    if name == "names":
        return isinstance(value, tuple) and all(
            isinstance(one, str) and len(one) <= LONGEST_NAME and one.isprintable() for one in value
        )
    kinds = int if name == "level" else (int, float)
    parts = value if isinstance(value, tuple) and name in ("minutes", "byoyomi", "increment") else (value,)
    return all(isinstance(one, kinds) and not isinstance(one, bool) and 0 <= one <= MOST[name] for one in parts)


class PersonGame(LiveGame):
    """A game with its players, which may go on from a record, whose moves were played on other clocks.

    `person` is the person's side, None if both are; it and `level` may change. `ended` is the time of the end.
    """

    def __init__(self, settings: Settings, record: Record | None = None) -> None:
        self.record = record or Record(settings.start)
        nodes = self.record.main_line
        super().__init__(self.record.start, [node.move for node in nodes], Clock(*settings.controls))
        self.milliseconds = [node.milliseconds or 0 for node in nodes]
        self.settings, self.person, self.level = settings, settings.person(), settings.level
        self.begun, self.ended = local_time(), ""

    def again(self, *, swapped: bool = False) -> PersonGame:
        """Return a new game from the same start, between the same players, with sides changed if `swapped`."""
        game = PersonGame(self.settings, Record(self.start))
        game.person, game.level = self.person, self.level
        if swapped and self.person is not None:
            game.person = 1 - self.person
        return game

    def go_on(self, left: Sequence[int], end: End | None) -> None:
        """Set the clock and the end of a game that was saved."""
        self.clock.left, self.end = list(left), end
        self._left = [list(left) for _move in self.moves]

    @property
    def engine_moves(self) -> bool:
        """True if the engine is to move."""
        return self.end is None and self.person == 1 - self.turn

    @property
    def person_moves(self) -> bool:
        """True if a person is to move."""
        return self.end is None and not self.engine_moves

    @property
    def players(self) -> tuple[str, str]:
        """The names of Black and White in a record."""
        black, white = (self._name(side, "level") for side in (0, 1))
        return black, white

    def shown_name(self, side: int) -> str:
        """Return the name of a player in the language of messages."""
        return self._name(side, _("level"))

    def _name(self, side: int, word: str) -> str:
        if self.person == 1 - side:
            return f"{NAME} {word} {self.level}"
        return self.settings.names[side if self.person is None else 0] or _("Player")

    def side_name(self, side: int) -> str:
        """Return the name of a side, in Japanese those of a handicap if it is one."""
        return (position.sides_at(self.start) if chosen() == "ja" else ("Black", "White"))[side]

    @property
    def ending_text(self) -> str:
        """How the game ended; empty while it goes on."""
        if (end := self.end) is None:
            return ""
        text = _(BY_REASON[end.reason].sentence).format(winner=self.side_name(end.winner or 0))
        return f"まで{len(self.moves)}手で{text}" if chosen() == "ja" else text

    def continuation(self, option: str = "") -> str:
        """Return the command that continues the game; empty if it has ended or has no moves."""
        if self.end or not self.moves:
            return ""
        side = next(name for name, number in SIDES.items() if number == self.person)
        position = f'"{self.position}"' if "*" in self.position else self.position  # shells match names
        words = [
            "usi_engine play",
            option,
            position,
            f"--level {self.level} --side {side}",
            *self.settings.clock_words(),
        ]
        return " ".join(filter(None, words))

    def left(self, side: int) -> int:
        """Return the main time that a side has left at the start of its move, with the move's increment.

        After a loss on time it is the negative byoyomi: nothing is left of both.
        """
        if self.turn == side and self.end and self.end.reason == "time":
            return -self.clock.controls[side].byoyomi
        return self.clock.allowed(side) - self.clock.controls[side].byoyomi

    def go(self) -> Go:
        """Return the limits of the engine's next move; with a `movetime` it would not use its book."""
        if self.clock:
            return Go(Times.of(self.clock, self.turn))
        return Go(Times(0, 0, max(int(self.settings.seconds * 1000), 10)))

    def move(self, text: str) -> None:
        """Make the person's move, in any notation, or lose on time. MoveError if it is not legal."""
        self.check_person_moves()
        self.reply(read_move(text, self.board))

    def person_replies(self, answer: str) -> None:
        """Carry out the answer of a person, who must be to move. MoveError."""
        self.check_person_moves()
        self.reply(answer)

    def check_person_moves(self) -> None:
        """Raise MoveError unless a person is to move."""
        if self.end:
            raise MoveError(_("the game is over"))
        if self.engine_moves:
            raise MoveError(_("it is the engine's turn"))

    def reply(self, answer: str) -> None:
        """Carry out a player's answer: a legal move, `resign` or `win`. It may come too late."""
        spent = self.clock.spent
        if answer in ("resign", "win") or not self.lose_on_time(spent):
            self.answer(answer, spent)

    def take_back(self) -> None:
        """Take back the person's resignation, or else the last move and the answer to it, if any. MoveError."""
        if self.end and self.end.reason == "resignation" and self.end.winner != self.person:
            self.end = None
            self.clock.start()
            return
        own_turn = self.turn == self.person and (self.end is None or len(self.moves) > 1)
        count = 2 if own_turn else 1
        if len(self.moves) < count:
            raise MoveError(_("there is no move to take back"))
        for _move in range(count):
            self.pop()

    def pace(self) -> float:
        """Return how many seconds the engine's move takes at least: no more than a tenth of what its clock has."""
        if self.level > PACED_LEVEL:
            return 0.0
        most = self.clock.allowed(self.turn) / 10_000 if self.clock else self.settings.seconds
        return min(random.uniform(*PACE), most)

    def can_declare(self) -> bool:
        """Return True if the person to move can declare a win."""
        return self.person_moves and self.board.can_declare()
