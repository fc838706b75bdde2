"""Reader of an engine's info lines: the lines of a search so far."""

import re
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

# Values as in the core, which is loaded late: a mate in n plies is MATE - n, at least MATE_BOUND; a win by declaration
# or by a try in n plies is DECLARATION - n; no evaluation is above MAX_EVALUATION; INFINITE is above every value.
MATE, MATE_BOUND, DECLARATION, MAX_EVALUATION, INFINITE = 32_000, 31_000, 30_500, 20_000, 32_600
MAX_DEPTH = 127
LONGEST_MATE = 1_000  # the length of a mate of unknown length
COUNTS = frozenset({"depth", "seldepth", "multipv", "nodes"})
COUNT = re.compile(r"\d{1,18}")
VALUE = re.compile(r"([+-]?)(\d{0,9})")
MOVE = re.compile(r"[1-9][a-i][1-9][a-i]\+?|[PLNSGBR]\*[1-9][a-i]")


@dataclass(frozen=True)
class Info:
    """An info line. `value` is in centipawns or that of a mate, for the side to move; `bound` exact, lower or upper."""

    value: int | None = None
    bound: str = "exact"
    pv: tuple[str, ...] = ()
    depth: int = 0
    seldepth: int = 0
    multipv: int = 1
    nodes: int = 0


def parse_info(text: str) -> Info:
    """Read what follows `info`; what cannot be read is left out. Some engines end the moves with a remark."""
    words, found = text.split(), dict[str, Any]()
    for place, word in enumerate(words):
        after = words[place + 1] if words[place + 1 :] else ""
        if word == "string":
            break
        if word in COUNTS and COUNT.fullmatch(after):
            found[word] = int(after)
        elif word in ("cp", "mate"):
            found["value"] = read_value(word, after)
        elif word in ("lowerbound", "upperbound"):
            found["bound"] = word.removesuffix("bound")
        elif word == "pv":
            found["pv"] = tuple(takewhile(MOVE.fullmatch, words[place + 1 :]))
    return Info(**found)


def read_value(kind: str, text: str) -> int | None:
    """Return the value of `cp 12`, `mate -4`, `mate +`; None if it cannot be read."""
    sign, digits = match.groups() if (match := VALUE.fullmatch(text)) else ("", "")
    if kind == "cp":
        size = min(int(digits), MAX_EVALUATION) if digits else None
    else:
        size = MATE - min(int(digits or LONGEST_MATE), LONGEST_MATE) if sign or digits else None
    return -size if size and sign == "-" else size


class Lines:
    """The lines of a search so far: for each number of MultiPV the last one, and for each move only one.

    An exact value stays until there is another, or a bound of a greater depth.
    """

    def __init__(self) -> None:
        self._lines: dict[int, Info] = {}
        self.nodes = 0

    def add(self, info: Info) -> bool:
        """Add an info line; return True if it is news."""
        self.nodes = max(self.nodes, info.nodes)
        before = self._lines.get(info.multipv, Info())
        is_exact = before.value is not None and before.bound == "exact"
        if info.value is None or (is_exact and info.bound != "exact" and before.depth >= info.depth):
            return False
        line = replace(info, pv=info.pv or before.pv)
        kept = {number: old for number, old in self._lines.items() if not old.pv or old.pv[:1] != line.pv[:1]}
        self._lines = kept | {line.multipv: line}
        return True

    def best_first(self) -> tuple[Info, ...]:
        """Return the lines in order of value."""
        return tuple(sorted(self._lines.values(), key=lambda line: line.value or 0, reverse=True))
