"""A game record as a tree of moves, with the start, header, times, comments, ends and variations.

Each format's module reads text into a `Record` and writes one. Comments are the same text in every format. A line
`** 30 -3334FU +2726FU` of floodgate, a value for Black and a line of moves, has its two stars in every format too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core_ext.board import Board
from usi_engine.records.ends import End, result_of
from usi_engine.records.faults import Fault, FaultyText
from usi_engine.search.results import Analysis

# A comment line with a value as on floodgate, and the same after a format's mark of comments.
FLOODGATE = re.compile(r"\*\* [-+]?\d+(?= |$)")
AFTER_MARK = re.compile(r"\* [-+]?\d+(?= |$)")


def marked_text(line: str) -> str:
    """Return a line of a comment as it follows the mark of comments: floodgate's second star is part of the mark."""
    return line[1:] if FLOODGATE.match(line) else line


def unmarked_text(text: str) -> str:
    """Return the line of a comment whose text follows the mark of comments."""
    return "*" + text if AFTER_MARK.match(text) else text


class Node:
    """A position of a record and the move that led to it, as in `chess.pgn` of python-chess.

    `move` is USI, empty at the start. `milliseconds` is the time of the move, None if the record has none. `comment`
    has lines without the formats' marks, None if there is none. `variations` are the moves made from here. The first
    goes on with the main line, unless the line ends here: then `end` is set, and all are alternatives to the end.
    `analysis` is the result of a search of the position, None if there was none; `quick` that of an earlier, shorter
    one if it was searched twice.
    """

    __slots__ = ("analysis", "comment", "end", "milliseconds", "move", "parent", "quick", "variations")

    def __init__(
        self, move: str = "", milliseconds: int | None = None, comment: str | None = None, parent: Node | None = None
    ) -> None:
        self.move, self.milliseconds, self.comment, self.parent = move, milliseconds, comment, parent
        self.end: End | None = None
        self.analysis: Analysis | None = None
        self.quick: Analysis | None = None
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
class Step:
    """A node on the way through a record: number of moves to it, the position after its move.

    `board` goes on with the walk: it is this position only until the next step. `spent` are the milliseconds of the
    side that made the move, and of the other side.
    """

    node: Node
    ply: int
    board: Board
    spent: tuple[int, int]
    begins_variation: bool

    @cached_property
    def before(self) -> Board:
        """The position before the move. IndexError at the start."""
        board = self.board.copy()
        board.pop()
        return board


@dataclass
class Record:
    """A game: start as sfen, tree of moves, header with the keys of KIF (先手, 後手 or 上手, 棋戦, ...).

    `fault` is set if the last move of the main line was illegal: it is left out.
    """

    start: str
    root: Node = field(default_factory=Node)
    header: dict[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the nodes as a list: nested, those of a long game would be too deep."""
        nodes = list(self.root.nodes())
        places: dict[Node | None, int] = {node: place for place, node in enumerate(nodes)}
        rows = [
            (node.move, node.milliseconds, node.comment, places.get(node.parent, -1), node.end, node.analysis)
            for node in nodes
        ]
        return restored, (type(self), {**vars(self), "root": None}, rows)

    @property
    def main_line(self) -> list[Node]:
        """The nodes of the main line after the start."""
        return list(self.root.mainline())

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves of the main line in USI."""
        return tuple(node.move for node in self.root.mainline())

    @property
    def end(self) -> End | None:
        """The end of the main line; None if the record has none."""
        return self.root.last().end

    @property
    def result(self) -> int | None:
        """1 if Black won, -1 if White won, 0 for a draw; None if the record does not say."""
        return result_of(self.end, self.turn(len(self.moves))) if self.end else None

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty if the record does not name them."""
        black, white = (("先手", "下手"), ("後手", "上手"))
        return self._named(black), self._named(white)

    def _named(self, keys: tuple[str, str]) -> str:
        return next((self.header[key] for key in keys if self.header.get(key)), "")

    def turn(self, plies: int = 0) -> int:
        """Return the side to move after `plies` moves."""
        return (self.start.split()[1] == "w") ^ plies % 2

    def board(self, plies: int | None = None) -> Board:
        """Return the position after `plies` moves, or at the end, with its game history. IndexError."""
        if plies is not None and not -len(self.moves) <= plies <= len(self.moves):
            raise IndexError(f"the game has {len(self.moves)} moves, not {plies}")
        return Board.from_moves(self.moves[:plies], self.start)

    def walk(self) -> Iterator[Step]:
        """Yield the root and all nodes in the order of KIF: each line of moves to its end, then its variations, the
        latest ones first.
        """
        board, made, spent = Board(self.start), 0, [0]
        pending = [(self.root, 0)]  # the first nodes of lines, with the number of moves to them
        while pending:
            first, ply = pending.pop()
            for _ in range(made - ply + 1 if ply else 0):
                board.pop()
            node: Node | None = first
            while node:
                if ply:
                    board.push(node.move)
                    spent[ply:] = [(spent[ply - 2] if ply > 1 else 0) + (node.milliseconds or 0)]
                yield Step(node, ply, board, (spent[ply], spent[ply - 1]), node is first and ply > 0)
                pending.extend((other, ply + 1) for other in reversed(node.alternatives()))
                made, node, ply = ply, node.next(), ply + 1

    def count_variations(self) -> int:
        """Return the number of variations beside the main lines."""
        return sum(len(node.alternatives()) for node in self.root.nodes())


def restored(kind: type[Record], values: dict[str, Any], rows: Iterable[tuple[Any, ...]]) -> Record:
    """Return the record of `Record.__reduce__`."""
    nodes = list[Node]()
    for move, milliseconds, comment, place, end, analysis in rows:
        parent = nodes[place] if nodes else None
        node = parent.add(move, milliseconds, comment) if parent else Node(move, milliseconds, comment)
        node.end, node.analysis = end, analysis
        nodes.append(node)
    record = kind.__new__(kind)
    vars(record).update(values, root=nodes[0])
    return record


class Builder:
    """Builds a record move by move. `path[k]` is the node after k moves of the line that is read, `board` its position.

    An illegal move ends its line: `stopped` is its fault, and that of the record. What follows is skipped in a
    variation, but is an error on the main line. `comment` are lines for the last move or end.
    """

    def __init__(self) -> None:
        self.record = Record("")
        self.board: Board  # from `set_up` on
        self.path = [self.record.root]
        self.comment: list[str] = []
        self.stopped: Fault | None = None
        self.in_variation = False

    def set_up(self, start: str) -> None:
        """Set the start position. ValueError."""
        self.board = Board(start)
        self.record.start = self.board.sfen()

    def skips(self) -> bool:
        """Return whether moves are skipped. FaultyText on the main line."""
        if self.stopped and not self.in_variation:
            raise FaultyText(self.stopped)
        return self.stopped is not None

    def stop(self, fault: Fault) -> None:
        """End the line by a fault."""
        self.keep_comment()
        self.stopped = fault
        self.record.fault = self.record.fault or fault

    def make(self, usi: str, fault: Fault) -> bool:
        """Make a move and return True; if it is illegal, stop with this fault and return False."""
        try:
            self.board.push(usi)
        except ValueError:
            self.stop(fault)
            return False
        self.keep_comment()
        self.path.append(self.path[-1].add(usi))
        return True

    def add_made(self, moves: Iterable[tuple[str, int | None, str | None]]) -> None:
        """Add moves that the board has made already, with times and comments."""
        self.keep_comment()
        node = self.path[-1]
        for move, milliseconds, comment in moves:
            before, node = node, Node(move, milliseconds, comment, node)
            before.variations.append(node)
            self.path.append(node)

    def set_end(self, end: End) -> None:
        """Set the end of the line. After an illegal move, its side has lost by it, or there is no end."""
        self.keep_comment()
        if not self.stopped:
            self.path[-1].end = end
        elif "ILLEGAL" in end.name and not self.in_variation:
            self.path[-1].end = End("ILLEGAL_MOVE")

    def owner(self) -> Node | End:
        """Return what times and comments belong to: the last move, or the end after it."""
        return self.path[-1].end or self.path[-1]

    def keep_comment(self) -> None:
        """Add the lines of the comment to their owner."""
        owner = self.owner()
        if self.comment and not self.stopped:
            lines = [] if owner.comment is None else [owner.comment]
            owner.comment = "\n".join(lines + self.comment)
        self.comment = []

    def go_back(self, plies: int) -> None:
        """Begin a variation from the position after so many moves of the line."""
        self.keep_comment()
        self.in_variation, self.stopped = True, None
        while len(self.path) > plies + 1:
            self.board.pop()
            self.path.pop()
