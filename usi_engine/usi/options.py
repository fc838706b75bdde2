"""The USI options: type, range, default and current value. Names are those of YaneuraOu."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from usi_engine.language import _

MOST_THREADS_BY_DEFAULT = 4  # other cores are left to the GUI and the opponent
ENTERING_KING_RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")
TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})
TEXTS = frozenset({"string", "filename"})
EMPTY_VALUES = frozenset({"<empty>", "<none>"})
LARGEST = 2**62  # greater numbers are clamped
PART = re.compile(r"(?<!\S)(default|min|max|var)\s+(\S.*?)\s*(?=\s(?:default|min|max|var)\s|$)")
NUMBER = re.compile(r"[+-]?[0-9]{1,4000}")  # int() reads 1_0 and other scripts, and no more than 4,300 digits

Value = int | bool | str


@dataclass(frozen=True)
class Option:
    """An option as an engine declares it.

    `kind` is the protocol's type: `spin` (an integer, in its range), `check` (true or false), `combo` (one of
    `values`), `string`, `filename` or `button`. None: no such end of the range is declared.
    """

    kind: str
    default: Value = ""
    least: int | None = None
    most: int | None = None
    values: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Option:
        """Read what follows `type` in a declaration."""
        kind, rest = (*text.split(None, 1), "", "")[:2]
        if kind in TEXTS:
            default = rest.strip().removeprefix("default").strip()
            return cls(kind, "" if default in EMPTY_VALUES else default)
        parts = PART.findall(rest)
        last = {"default": "", "min": "", "max": "", **dict(parts)}
        least, most = (int(last[key]) if NUMBER.fullmatch(last[key]) else None for key in ("min", "max"))
        option = cls(kind, last["default"], least, most, tuple(word for key, word in parts if key == "var"))
        with suppress(ValueError):  # a default that is no value stays text
            return replace(option, default=option.read(last["default"]))
        return option

    def __str__(self) -> str:
        """Return what follows `type` in a declaration: `spin default 1 min 1 max 8`."""
        default = self.default if self.default != "" or self.kind in TEXTS else None
        parts = [("default", default), ("min", self.least), ("max", self.most), *(("var", x) for x in self.values)]
        return " ".join([self.kind, *(f"{key} {shown(value)}" for key, value in parts if value is not None)])

    @property
    def limits(self) -> tuple[int, int]:
        """The range of a spin, without end if it is not declared."""
        return (-LARGEST if self.least is None else self.least), (LARGEST if self.most is None else self.most)

    def read(self, text: str) -> Value:
        """Return the value of a text; a number is clamped to the range. ValueError."""
        if self.kind == "spin":
            least, most = self.limits
            if not NUMBER.fullmatch(text):
                raise ValueError(text)
            return min(max(int(text), least), most)
        if self.kind == "check":
            return read_bool(text)
        if self.kind == "combo":
            return self._listed(text)
        # Text options name files. If the locale is ASCII, Python represents other letters of file names as bytes.
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))

    def checked(self, text: str) -> str:
        """Return a text as it is sent to an engine. A ValueError says what it must be: `from 1 to 8`."""
        if self.kind == "spin":
            least, most = self.limits
            if not (NUMBER.fullmatch(text) and least <= int(text) <= most):
                raise ValueError(_("from {least} to {greatest}").format(least=least, greatest=most))
        elif self.kind == "check":
            return shown(read_bool(text))
        elif self.kind == "combo":
            return self._listed(text)
        elif "\n" in text or "\r" in text:
            raise ValueError(_("one line"))
        return text

    def _listed(self, text: str) -> str:
        """Return one of the values, recognised in any case. ValueError."""
        for value in self.values:
            if value.lower() == text.lower():
                return value
        raise ValueError(_("one of {values}").format(values=", ".join(self.values)))


def read_bool(text: str) -> bool:
    """Read one of TRUE_WORDS or FALSE_WORDS, in any case. ValueError."""
    word = text.lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise ValueError(_("true or false"))
    return word in TRUE_WORDS


def shown(value: Value) -> str:
    """Return a value as USI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "<empty>"


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def default_threads() -> int:
    return min(usable_cores(), MOST_THREADS_BY_DEFAULT)


# Output units of a network per centipawn, as in YaneuraOu, if the option is 0 and no eval_options.txt states them.
FV_SCALE = 16

# Values that options once had.
FORMER_VALUES = {("MateShortest", "true"): "shortest", ("MateShortest", "false"): "short"}

DECLARED: dict[str, Option] = {
    "USI_Hash": Option("spin", 256, 1, 262144),
    "USI_Ponder": Option("check", False),
    "Threads": Option("spin", default_threads(), 1, 512),
    "MultiPV": Option("spin", 1, 1, 593),
    "USI_OwnBook": Option("check", True),
    "BookFile": Option("filename", "<internal>"),
    "EvalFile": Option("filename", "<internal>"),
    "EvalDir": Option("string", ""),
    "FV_SCALE": Option("spin", 0, 0, 128),
    "BookMoves": Option("spin", 16, 0, 10000),
    "BookEvalDiff": Option("spin", 30, 0, 99999),
    "BookEvalBlackLimit": Option("spin", -50, -99999, 99999),
    "BookEvalWhiteLimit": Option("spin", -140, -99999, 99999),
    "NarrowBook": Option("check", False),
    "ConsiderBookMoveCount": Option("check", True),
    "BookIgnoreRate": Option("spin", 0, 0, 100),
    "FlippedBook": Option("check", True),
    "NetworkDelay": Option("spin", 120, 0, 10000),
    "NetworkDelay2": Option("spin", 1120, 0, 10000),
    "MinimumThinkingTime": Option("spin", 2000, 0, 100000),
    "SlowMover": Option("spin", 100, 1, 1000),
    "RoundUpToFullSecond": Option("check", True),
    "SkillLevel": Option("spin", 20, 0, 20),
    "ResignValue": Option("spin", 99999, 0, 99999),
    "MaxMovesToDraw": Option("spin", 0, 0, 100000),
    "EnteringKingRule": Option("combo", "CSARule27", values=ENTERING_KING_RULES),
    "DrawValueBlack": Option("spin", -2, -30000, 30000),
    "DrawValueWhite": Option("spin", -2, -30000, 30000),
    "GenerateAllLegalMoves": Option("check", False),
    "PvInterval": Option("spin", 300, 0, 1000000),
    "ConsiderationMode": Option("check", False),
    "DepthLimit": Option("spin", 0, 0, 1000),
    "MateShortest": Option("combo", "shortest", values=("first", "short", "shortest")),
    "NodesLimit": Option("spin", 0, 0, 2**31 - 1),
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
        self._values: dict[str, Value] = {name: option.default for name, option in self._kinds.items()}
        self._received: dict[str, str] = {}  # the last text for each option
        self._set: set[str] = set()  # by the user
        self._advised: set[str] = set()  # by an eval_options.txt

    def declarations(self) -> list[str]:
        """Return the option lines that answer `usi`."""
        return [f"option name {name} type {option}" for name, option in self._kinds.items()]

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
        if known in self._kinds and self._kinds[known].kind not in TEXTS:
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
        text = FORMER_VALUES.get((known, text.strip().lower()), text)
        try:
            self._values[known] = self._kinds[known].read(text.strip())
        except ValueError:
            return f"option {known} cannot be '{text}'; it stays {self.shown(known)}"
        return None

    def shown(self, name: str) -> str:
        """Return the value as text."""
        return shown(self._values[name])

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
