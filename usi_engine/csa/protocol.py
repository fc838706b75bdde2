"""The text of the CSA server protocol 1.2.1: parses server lines to frozen events, formats commands. It does no I/O.

Protocol: http://www2.computer-shogi.org/protocol/ (tcp_ip_server_121.html).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from usi_engine.clock import LONGEST_MS, TimeControl
from usi_engine.language import _

COLORS = "+-"  # Black and White
RESIGN, DECLARE_WIN, INTERRUPT, LOGOUT, KEEP_ALIVE = "%TORYO", "%KACHI", "%CHUDAN", "LOGOUT", ""
TIME = r"(?:, ?T([0-9]+(?:\.[0-9]*)?))?"
MOVE = re.compile(r"([+-](?:00|[1-9]{2})[1-9]{2}[A-Z]{2})" + TIME + r"(?:,.*)?")
CAUSE = re.compile(r"#[A-Z_]+")
SPECIAL = re.compile(r"(%[A-Z]+)" + TIME)
LOGIN = re.compile(r"LOGIN:(.+) OK")
REJECT = re.compile(r"REJECT:(.*) by (.+)")
UNIT = re.compile(r"([1-9][0-9]{0,8})?(msec|sec|min)")
UNIT_MS = {"msec": 1, "sec": 1000, "min": 60_000}
OUTCOMES = {"#WIN": "win", "#LOSE": "lose", "#DRAW": "draw", "#CENSORED": "draw", "#CHUDAN": "unknown"}
# Bounds of what a server sends: units of a time, moves of a game, lines and letters of a Game_Summary.
MOST_UNITS = Decimal(LONGEST_MS)
MOST_MOVES = 100_000
MOST_LINES, MOST_LETTERS = 10_000, 1 << 20


class TooMuch(ValueError):
    """Text without an end; the connection is of no use any more."""


@dataclass(frozen=True)
class LoggedIn:
    """`LOGIN:name OK`."""

    name: str


class Reply(Enum):
    """A reply to a login or logout, the whole line."""

    REFUSED = "LOGIN:incorrect"
    LOGGED_OUT = "LOGOUT:completed"


@dataclass(frozen=True)
class MoveMade:
    """A move of either player, and its time in the server's units, which may have a fraction."""

    csa: str
    units: Decimal = Decimal(0)

    @property
    def side(self) -> int:
        """The player who made it."""
        return COLORS.index(self.csa[0])


@dataclass(frozen=True)
class GameSummary:
    """The conditions of a game. `position` has the lines of the start position, `moves` the moves made from there (in a
    resumed game, or one that starts from an opening). `units` are milliseconds of the times that the server reports,
    nearly always 1000.
    """

    game_id: str
    names: tuple[str, str]  # Black's and White's, as all pairs
    side: int  # ours
    controls: tuple[TimeControl, TimeControl]
    units: tuple[int, int]
    position: tuple[str, ...]
    moves: tuple[MoveMade, ...] = ()
    max_moves: int = 0  # 0: no limit
    declaration: str = ""  # the rule of declaring a win; empty: there is none

    def milliseconds(self, units: Decimal | int, side: int) -> int:
        """Return the milliseconds of a player's time that the server reports, at most LONGEST_MS."""
        return min(round(units * self.units[side]), LONGEST_MS)


@dataclass(frozen=True)
class BadSummary:
    """Conditions that cannot be read; `reason` names the fault."""

    game_id: str
    reason: str


@dataclass(frozen=True)
class Started:
    """`START:id`: both have agreed."""

    game_id: str


@dataclass(frozen=True)
class Rejected:
    """`REJECT:id by name`."""

    game_id: str
    by: str


@dataclass(frozen=True)
class Special:
    """`%TORYO`, `%KACHI` or `%CHUDAN` of either player; not every server sends its time."""

    word: str
    units: Decimal | None = None


@dataclass(frozen=True)
class Cause:
    """The cause of the end: `RESIGN`, `TIME_UP`, `ILLEGAL_MOVE`, `SENNICHITE`, `OUTE_SENNICHITE`, `JISHOGI`, ..."""

    word: str


@dataclass(frozen=True)
class Outcome:
    """The end of the game: `win`, `lose`, `draw`, or `unknown` if it was interrupted."""

    result: str


Event = (
    LoggedIn | Reply | GameSummary | BadSummary | Started | Rejected
    | MoveMade | Special | Cause | Outcome
)  # fmt: skip


class Reader:
    """A parser of server lines, without line ends, to events; a Game_Summary has many lines."""

    def __init__(self) -> None:
        self._summary: list[str] | None = None
        self._letters = 0

    def feed(self, line: str) -> Event | None:
        """Return the event that the line completes; None within a summary and for a line such as chat. TooMuch."""
        if line == "BEGIN Game_Summary":
            self._summary, self._letters = [], 0
        elif self._summary is None:
            return read_event(line)
        elif line == "END Game_Summary":
            lines, self._summary = self._summary, None
            return read_summary(lines)
        else:
            self._summary.append(line)
            self._letters += len(line)
            if len(self._summary) >= MOST_LINES or self._letters > MOST_LETTERS:
                raise TooMuch(_("the server sent a Game_Summary without an end"))
        return None


def read_event(line: str) -> Event | None:
    """Parse a line outside a summary; None if it has no meaning for a player."""
    if line.startswith(("+", "-", "%", "#")):
        return game_event(line.rstrip())
    if line.startswith("START:"):
        return Started(line.removeprefix("START:").strip())
    if reject := REJECT.fullmatch(line):
        return Rejected(reject[1].strip(), reject[2])
    if login := LOGIN.fullmatch(line):
        return LoggedIn(login[1])
    return Reply(line) if line in {reply.value for reply in Reply} else None


def game_event(line: str) -> Event | None:
    """Parse a line about a move or the end of a game."""
    if move := MOVE.fullmatch(line):
        return MoveMade(move[1], read_units(move[2] or "0"))
    if special := SPECIAL.fullmatch(line):
        return Special(special[1], read_units(special[2]) if special[2] else None)
    if line in OUTCOMES:
        return Outcome(OUTCOMES[line])
    return Cause(line[1:]) if CAUSE.fullmatch(line) else None


def read_units(text: str) -> Decimal:
    """Convert a time of any number of digits; at most MOST_UNITS."""
    return min(Decimal(text), MOST_UNITS)


def split_sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines of each `BEGIN name` ... `END name`; those outside under an empty name."""
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for line in lines:
        if line.startswith("BEGIN "):
            name = line.removeprefix("BEGIN ")
            sections[name] = []
        elif line.startswith("END "):
            name = ""
        else:
            sections[name].append(line)
    return sections


def read_fields(lines: Sequence[str]) -> dict[str, str]:
    """Parse lines of `name:value`."""
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def read_summary(lines: Sequence[str]) -> GameSummary | BadSummary:
    """Parse the lines between BEGIN and END of a Game_Summary."""
    sections = split_sections(lines)
    fields = read_fields(sections[""])
    game_id = fields.get("Game_ID", "").strip()
    position = sections.get("Position", [])
    moves = [event for event in map(read_event, position) if isinstance(event, MoveMade)]
    try:
        (black, black_unit), (white, white_unit) = (read_control(sections, color) for color in COLORS)
        return GameSummary(
            game_id=game_id,
            names=(fields.get("Name+", ""), fields.get("Name-", "")),
            side=read_side(fields),
            controls=(black, white),
            units=(black_unit, white_unit),
            position=tuple(line for line in position if not MOVE.fullmatch(line)),
            moves=tuple(moves),
            max_moves=min(read_number(fields, "Max_Moves"), MOST_MOVES),
            declaration=fields.get("Declaration", ""),
        )
    except ValueError as error:
        return BadSummary(game_id, str(error))


def read_side(fields: Mapping[str, str]) -> int:
    """Return our side. ValueError."""
    color = fields.get("Your_Turn", "")
    if color not in tuple(COLORS):
        raise ValueError(_("Your_Turn is '{text}', neither + nor -").format(text=color))
    return COLORS.index(color)


def read_control(sections: Mapping[str, Sequence[str]], color: str) -> tuple[TimeControl, int]:
    """Return a player's time control and unit of time, from the sections `Time` and `Time+` or `Time-`. ValueError."""
    fields = read_fields([*sections.get("Time", []), *sections.get(f"Time{color}", [])])
    unit = read_unit(fields.get("Time_Unit", "1sec"))
    total, byoyomi, increment = (read_number(fields, name) * unit for name in ("Total_Time", "Byoyomi", "Increment"))
    if max(total, byoyomi, increment, unit) > LONGEST_MS:
        raise ValueError(_("a time of more than {seconds} seconds").format(seconds=LONGEST_MS // 1000))
    return TimeControl(total, byoyomi, increment), unit


def read_unit(text: str) -> int:
    """Convert `1sec`, `100msec`, `1min` to milliseconds. ValueError."""
    unit = UNIT.fullmatch(text)
    if unit is None:
        raise ValueError(_("Time_Unit is '{text}', not a number of msec, sec or min").format(text=text))
    return int(unit[1] or 1) * UNIT_MS[unit[2]]


def read_number(fields: Mapping[str, str], name: str) -> int:
    """Return the number in a field; 0 if the field is missing. ValueError."""
    text = fields.get(name, "0")
    if not re.fullmatch(r"\d{1,12}", text, re.ASCII):
        raise ValueError(_("{name} is '{text}', not a number").format(name=name, text=text))
    return int(text)


def login(name: str, password: str) -> str:
    """Return the line that logs in."""
    return f"LOGIN {name} {password}"
