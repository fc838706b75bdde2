"""A game record as a tree of moves, with the start, header, times, comments, ends and variations.

Each format's module reads text into a `Record` and writes one. Comments are the same text in every format. A line
`** 30 -3334FU +2726FU` of floodgate, a value for Black and a line of moves, has its two stars in every format too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from usi_engine.records.faults import Fault

# A comment line with a value as on floodgate, and the same after a format's mark of comments.
FLOODGATE = re.compile(r"\*\* [-+]?\d+(?= |$)")
AFTER_MARK = re.compile(r"\* [-+]?\d+(?= |$)")

# Ends that the side to move loses, and those that nobody does.
LOSSES = frozenset({"TORYO", "TSUMI", "TIME_UP", "ILLEGAL_MOVE"})
DRAWS = frozenset({"SENNICHITE", "JISHOGI", "HIKIWAKE", "MAX_MOVES"})
# The winner or loser in the words of an end that has no name in CSA.
WINNER = re.compile(r"([先後上下])手の?(?:(?:時間)?切れ|切断|入玉|宣言|不戦|反則)*(?:勝|(負|敗|投了))")
# Words without a side that mean the same for the result as an end of CSA.
WALKOVERS = {"不戦勝": "KACHI", "不戦敗": "TORYO"}


def marked_text(line: str) -> str:
    """Return a line of a comment as it follows the mark of comments: floodgate's second star is part of the mark."""
    return line[1:] if FLOODGATE.match(line) else line


def unmarked_text(text: str) -> str:
    """Return the line of a comment whose text follows the mark of comments."""
    return "*" + text if AFTER_MARK.match(text) else text


@dataclass
class End:
    """The end of a line of moves.

    `name` is CSA's without `%` (TORYO, CHUDAN, TSUMI, -ILLEGAL_ACTION, ...), empty if CSA has none that fits. `word`
    is the record's own, if the name does not say all (封じ手 is a CHUDAN). `milliseconds` is the time of the player to
    move.
    """

    name: str
    word: str = ""
    milliseconds: int | None = None
    comment: str | None = None


class Node:
    """A position of a record and the move that led to it, as in `chess.pgn` of python-chess.

    `move` is USI, empty at the start. `milliseconds` is the time of the move, None if the record has none. `comment`
    has lines without the formats' marks, None if there is none. `variations` are the moves made from here. The first
    goes on with the main line, unless the line ends here: then `end` is set, and all are alternatives to the end.
    """

    __slots__ = ("comment", "end", "milliseconds", "move", "parent", "variations")

    def __init__(
        self, move: str = "", milliseconds: int | None = None, comment: str | None = None, parent: Node | None = None
    ) -> None:
        self.move, self.milliseconds, self.comment, self.parent = move, milliseconds, comment, parent
        self.end: End | None = None
        self.variations: list[Node] = []

    def add(self, move: str, milliseconds: int | None = None, comment: str | None = None) -> Node:
        """Append a variation and return its first node."""
        node = Node(move, milliseconds, comment, self)
        self.variations.append(node)
        return node

    def next(self) -> Node | None:
        """Return the node that goes on with the line; None at its end."""
        return self.variations[0] if self.variations and not self.end else None

    def alternatives(self) -> list[Node]:
        """Return the variations that do not go on with the line."""
        return self.variations if self.end else self.variations[1:]

    def mainline(self) -> Iterator[Node]:
        """Yield the nodes after this one, by first variations."""
        node = self.next()
        while node is not None:
            yield node
            node = node.next()

    def last(self) -> Node:
        """Return the last node of the main line from here."""
        node = self
        for node in self.mainline():  # noqa: B007
            pass
        return node

    def path(self) -> list[Node]:
        """Return the nodes from the start to this one."""
        nodes, node = [self], self.parent
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def moves(self) -> list[str]:
        """Return the moves from the start to this node."""
        return [node.move for node in self.path()[1:]]

    def nodes(self) -> Iterator[Node]:
        """Yield this node and all after it: each before its variations, the main line first."""
        stack = [self]
        while stack:
            yield (node := stack.pop())
            stack.extend(reversed(node.variations))


@dataclass
class Record:
    """A game: start as sfen, tree of moves, header with the keys of KIF (先手, 後手 or 上手, 棋戦, ...).

    `fault` is set if the last move of the main line was illegal: it is left out.
    """

    start: str
    root: Node = field(default_factory=Node)
    header: dict[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    @property
    def main_line(self) -> list[Node]:
        """The nodes of the main line after the start."""
        return list(self.root.mainline())

    @property
    def end(self) -> End | None:
        """The end of the main line."""
        return self.root.last().end

    @property
    def result(self) -> int | None:
        """1 if Black won, -1 if White won, 0 for a draw; None if the record does not say."""
        name = self.end.name or WALKOVERS.get(self.end.word, "") if self.end else ""
        if self.end and not name and (words := WINNER.search(self.end.word)):
            return 1 if (words[1] in "先下") == (words[2] is None) else -1
        if name in DRAWS:
            return 0
        if name in ("+ILLEGAL_ACTION", "-ILLEGAL_ACTION"):
            return -1 if name[0] == "+" else 1
        mover = 1 if (self.start.split()[1] == "b") == (len(self.main_line) % 2 == 0) else -1
        return mover if name == "KACHI" else -mover if name in LOSSES else None

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty if the record does not name them."""
        black, white = (("先手", "下手"), ("後手", "上手"))
        return self._named(black), self._named(white)

    def _named(self, keys: tuple[str, str]) -> str:
        return next((self.header[key] for key in keys if self.header.get(key)), "")

    def count_variations(self) -> int:
        """Return the number of variations beside the main lines."""
        return sum(len(node.alternatives()) for node in self.root.nodes())
