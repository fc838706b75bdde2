"""The USI options: type, range, default and current value. Names are those of YaneuraOu."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

MOST_THREADS_BY_DEFAULT = 4  # other cores are left to the GUI and the opponent
ENTERING_KING_RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")
TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True)
class Spin:
    """An integer, clamped to its range. `read` of every type raises ValueError if the text is not a value."""

    default: int
    least: int
    most: int

    def declaration(self) -> str:
        """Return the part of the option line after `type`."""
        return f"spin default {self.default} min {self.least} max {self.most}"

    def read(self, text: str) -> int:
        return min(max(int(float(text)), self.least), self.most)


@dataclass(frozen=True)
class Check:
    """True or false, in any of TRUE_WORDS and FALSE_WORDS."""

    default: bool

    def declaration(self) -> str:
        return f"check default {str(self.default).lower()}"

    def read(self, text: str) -> bool:
        word = text.lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            raise ValueError(text)
        return word in TRUE_WORDS


@dataclass(frozen=True)
class Combo:
    """One of several words, recognised in any case."""

    default: str
    words: tuple[str, ...]

    def declaration(self) -> str:
        return " ".join([f"combo default {self.default}", *(f"var {word}" for word in self.words)])

    def read(self, text: str) -> str:
        for word in self.words:
            if word.lower() == text.lower():
                return word
        raise ValueError(text)


@dataclass(frozen=True)
class Text:
    """Any text. `kind` is the protocol's type, `string` or `filename`."""

    default: str = ""
    kind: str = "string"

    def declaration(self) -> str:
        return f"{self.kind} default {self.default or '<empty>'}"

    def read(self, text: str) -> str:
        # Text options name files. If the locale is ASCII, Python represents other letters of file names as bytes.
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def default_threads() -> int:
    return min(usable_cores(), MOST_THREADS_BY_DEFAULT)


Kind = Spin | Check | Combo | Text
Value = int | bool | str

# Output units of a network per centipawn, as in YaneuraOu, if the option is 0 and no eval_options.txt states them.
FV_SCALE = 16

DECLARED: dict[str, Kind] = {
    "USI_Hash": Spin(256, 1, 262144),
    "USI_Ponder": Check(False),
    "Threads": Spin(default_threads(), 1, 512),
    "MultiPV": Spin(1, 1, 593),
    "USI_OwnBook": Check(True),
    "BookFile": Text("<internal>", "filename"),
    "EvalFile": Text("<internal>", "filename"),
    "EvalDir": Text(),
    "FV_SCALE": Spin(0, 0, 128),
    "BookMoves": Spin(16, 0, 10000),
    "BookEvalDiff": Spin(30, 0, 99999),
    "BookEvalBlackLimit": Spin(-50, -99999, 99999),
    "BookEvalWhiteLimit": Spin(-140, -99999, 99999),
    "NarrowBook": Check(False),
    "ConsiderBookMoveCount": Check(True),
    "BookIgnoreRate": Spin(0, 0, 100),
    "FlippedBook": Check(True),
    "NetworkDelay": Spin(120, 0, 10000),
    "NetworkDelay2": Spin(1120, 0, 10000),
    "MinimumThinkingTime": Spin(2000, 0, 100000),
    "SlowMover": Spin(100, 1, 1000),
    "RoundUpToFullSecond": Check(True),
    "SkillLevel": Spin(20, 0, 20),
    "ResignValue": Spin(99999, 0, 99999),
    "MaxMovesToDraw": Spin(0, 0, 100000),
    "EnteringKingRule": Combo("CSARule27", ENTERING_KING_RULES),
    "DrawValueBlack": Spin(-2, -30000, 30000),
    "DrawValueWhite": Spin(-2, -30000, 30000),
    "GenerateAllLegalMoves": Check(False),
    "PvInterval": Spin(300, 0, 1000000),
    "ConsiderationMode": Check(False),
    "DepthLimit": Spin(0, 0, 1000),
    "MateShortest": Check(True),
    "NodesLimit": Spin(0, 0, 2**31 - 1),
}


# Options that an eval_options.txt cannot set: they name its folder.
NAME_EVALUATION = frozenset({"EvalFile", "EvalDir"})
# The parts after `option` are in any order.
OPTION_LINE = re.compile(r"option(?=.*?\sname\s+(\S+)).*?\sdefault[\s=]+(.+?)(?:\s(?:name|type|min|max|var)\s.*)?")
COMMENTS = ("#", ";", "//")
# Prefix of undeclared options that set a tunable constant of the search.
TUNING_PREFIX = "Tune_"


def option_line(line: str) -> tuple[str, str] | None:
    """Return name and value of a line of an eval_options.txt, None if it is empty or a comment. ValueError.

    Such files are YaneuraOu's: `option name NAME type TYPE default VALUE`, `NAME VALUE` or `NAME=VALUE`. As there, a
    value is one word and the rest of the line is ignored; but a text, such as a path, may have spaces.
    """
    text = line.strip()
    if not text or text.startswith(COMMENTS):
        return None
    found = OPTION_LINE.fullmatch(text) or re.fullmatch(r"(?!option\s)([^\s=]+)[\s=]+(.+)", text)
    if not found:
        raise ValueError(f"'{text}' is not NAME=VALUE")
    return found[1], found[2]


class Options:
    """The current values. `set`, `advise` and `listing` ignore the case of names."""

    def __init__(self) -> None:
        self._kinds = DECLARED
        self._names = {name.lower(): name for name in self._kinds}
        self._values: dict[str, Value] = {name: kind.default for name, kind in self._kinds.items()}
        self._received: dict[str, str] = {}  # the last text for each option
        self._set: set[str] = set()  # by the user
        self._advised: set[str] = set()  # by an eval_options.txt

    def declarations(self) -> list[str]:
        """Return the option lines that answer `usi`."""
        return [f"option name {name} type {kind.declaration()}" for name, kind in self._kinds.items()]

    def set(self, name: str, text: str) -> str | None:
        """Set an option. Return None, or one sentence that says why it was not set.

        GUIs send the defaults of all options, some before each game: repeating the last text changes nothing, and a
        default counts as set by the user only if it replaces an advised value. FV_SCALE 0 never does.
        """
        known = self._names.get(name.lower(), "")
        if self._received.get(known) == text:
            return None
        refusal = self._assign(name, text)
        if refusal is None:
            self._received[known] = text
            self._set.discard(known)
            if self._values[known] != self._kinds[known].default or known in self._advised - {"FV_SCALE"}:
                self._set.add(known)
        return refusal

    def advise(self, lines: Iterable[str]) -> list[str]:
        """Set the options in the lines of an eval_options.txt, except those that the user has set by `set`.

        Options in the lines of the call before return to their defaults. Return sentences for the user.
        """
        for name in self._advised - self._set:
            self._values[name] = self._kinds[name].default
        self._advised.clear()
        told = []
        for line in lines:
            try:
                found = option_line(line)
            except ValueError as error:
                told.append(str(error))
                continue
            if found:
                told.append(self._advise(*found))
        return told

    def _advise(self, name: str, text: str) -> str:
        known = self._names.get(name.lower(), name)
        if known in NAME_EVALUATION:
            return f"option {known} cannot be set here"
        if not isinstance(self._kinds.get(known), Text):
            text = text.split(maxsplit=1)[0]
        if known in self._set:
            return f"option {known} stays {self.shown(known)}, as it was set, not {text}"
        refusal = self._assign(known, text)
        if refusal is None:
            self._advised.add(known)
        return refusal or f"{known} = {self.shown(known)}"

    def _assign(self, name: str, text: str) -> str | None:
        known = self._names.get(name.lower())
        if known is None:
            return f"no option is named '{name}'"
        try:
            self._values[known] = self._kinds[known].read(text.strip())
        except (ValueError, OverflowError):
            return f"option {known} cannot be '{text}'; it stays {self.shown(known)}"
        return None

    def shown(self, name: str) -> str:
        """Return the value as text."""
        value = self._values[name]
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) or "<empty>"

    def listing(self, name: str = "") -> list[str]:
        """Return lines `NAME = VALUE` for one option or for all; none if the name is unknown."""
        if name:
            known = self._names.get(name.lower())
            names = [known] if known else []
        else:
            names = list(self._kinds)
        return [f"{each} = {self.shown(each)}" for each in names]

    def number(self, name: str) -> int:
        """Return the value of a spin option."""
        return int(self._values[name])

    def flag(self, name: str) -> bool:
        """Return the value of a check option."""
        return bool(self._values[name])

    def text(self, name: str) -> str:
        """Return the value of a text or combo option."""
        return str(self._values[name])
