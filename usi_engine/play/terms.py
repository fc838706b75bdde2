"""The terms of a game as a page sends them: level, side, handicap, clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from usi_engine.game.skill import FULL_STRENGTH
from usi_engine.language import _
from usi_engine.play.game import HANDICAPS
from usi_engine.play.match import SIDES, Settings, control_of, side_of
from usi_engine.play.moves import MoveError
from usi_engine.usi.arguments import DAY
from usi_engine.usi.protocol import STARTPOS

EVEN = "even"
CHOICES = {"side": (*SIDES, "random"), "handicap": (EVEN, *HANDICAPS)}
MOST = {"level": FULL_STRENGTH, "minutes": DAY / 60, "byoyomi": DAY, "increment": DAY}


@dataclass(frozen=True)
class Terms:
    """The terms. `minutes`: main time; `byoyomi` and `increment`: seconds a move."""

    level: int
    side: str = "black"
    handicap: str = EVEN
    minutes: float = 0
    byoyomi: float = 0
    increment: float = 0

    @classmethod
    def of(cls, settings: Settings, handicap: str | None) -> Terms:
        """Return the terms of a game that has these settings."""
        clock = settings.control
        times = (clock.total / 60_000, clock.byoyomi / 1000, clock.increment / 1000)
        return cls(settings.level, settings.side_name, handicap or EVEN, *times)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Terms:
        """Return the terms in a page's data. MoveError quotes what is wrong."""
        values: dict[str, Any] = {field.name: data.get(field.name) for field in fields(cls)}
        for name, value in values.items():
            if not is_good(name, value):
                raise MoveError(_("{name} cannot be '{value}'").format(name=name, value=value))
        return cls(**values)

    @property
    def start(self) -> str:
        """The start position."""
        return HANDICAPS.get(self.handicap, STARTPOS)

    def settings(self, seconds: float) -> Settings:
        """Return the settings; `seconds` is the engine's time for a move without a clock."""
        control = control_of(self.minutes, self.byoyomi, self.increment)
        return Settings(side_of(self.side), self.level, seconds, control)


def is_good(name: str, value: object) -> bool:
    """Return whether a term can have this value."""
    if name in CHOICES:
        return value in CHOICES[name]
    kinds = int if name == "level" else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value <= MOST[name]
