"""Positions of an analysed record as data of the page: the main line and the variations.

The keys are those that `usi_engine/data/page/analysis.js` reads. Values and chances are Black's, losses the mover's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from usi_engine.analysis.explain import explanations
from usi_engine.analysis.judgement import percent
from usi_engine.analysis.kif import with_comment
from usi_engine.analysis.report import AnalysedGame, score_text
from usi_engine.analysis.words import grade_name, marked
from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.book.entry import BookError
from usi_engine.core import load_core
from usi_engine.evaluation.names import INTERNAL
from usi_engine.records.notation import move_text
from usi_engine.records.tree import Node
from usi_engine.search.results import Variation

if TYPE_CHECKING:
    from core_ext.board import Board

MOVES_SHOWN = 12  # of a line
MOST_NESTED = 20  # variations in variations

Data = dict[str, Any]


class PageNodes:
    """A converter of a record's nodes to data; call `line` without arguments for the main line."""

    def __init__(self, result: AnalysedGame) -> None:
        self._result = result
        self._start = result.game.start
        self._found = {
            node: (line, ply)
            for line in (result, *result.variations)
            for ply, node in enumerate(line.nodes)
            if line is result or ply > line.before
        }
        try:
            self._book: BookPlayer | None = BookPlayer(open_book(INTERNAL), lambda _text: None)
        except BookError:
            self._book = None

    def line(self, first: Node | None = None, nested: int = 0) -> list[Data]:
        """Return the nodes of the line that begins with this one, by default the start of the game."""
        first = first or self._result.nodes[0]
        board = load_core().board.from_moves(first.parent.moves() if first.parent else [], self._start)
        clocks, made = [0, 0], list[Data]()
        for node in (first, *first.mainline()):
            data = self._node(node, board)
            if not nested:
                data["total"] = self._total(node, board, clocks)
            made.append(data | self._branches(node, nested))
        return made

    def _node(self, node: Node, board: Board) -> Data:
        """Make the move of a node on `board`, the position before it, and return its data without branches."""
        name, book = "", False
        mover = "black" if (board.turn == load_core().black) == bool(node.move) else "white"
        if node.move:
            name, book = marked(move_text(board, node.move)), self._is_book(board, node.move)
            board.push(node.move)
        line, ply = self._found.get(node, (None, 0))
        return {
            "ply": len(board.moves()),
            "number": int(board.sfen().split()[3]) - 1,
            "side": mover,
            "sfen": board.sfen(),
            "usi": node.move or None,
            "move": name,
            "check": board.is_check(),
            "seconds": None if node.milliseconds is None else node.milliseconds / 1000,
            "total": None,
            "comment": "\n".join(filter(None, (with_comment(one.comment, []) for one in (node, node.end) if one))),
            "book": book,
            **(judged_data(line, ply) if line else UNKNOWN),
        }

    def _branches(self, node: Node, nested: int) -> Data:
        """Return the alternatives to the move of a node, and the lines that go on after its end."""
        if nested == MOST_NESTED:
            return {"variations": []}
        others = node.parent.alternatives() if node.parent and node is node.parent.next() else []
        data: Data = {"variations": [self.line(other, nested + 1) for other in others]}
        if node.end and node.variations:
            data["after"] = [self.line(other, nested + 1) for other in node.variations]
        return data

    def _total(self, node: Node, board: Board, clocks: list[int]) -> float | None:
        """Return the seconds that the mover of a node has used so far; None if its time is not known."""
        if node.milliseconds is None or not node.move:
            return None
        clocks[board.turn] += node.milliseconds
        return clocks[board.turn] / 1000

    def _is_book(self, board: Board, move: str) -> bool:
        return self._book is not None and any(one.move == move for one in self._book.moves(board, flipped=True))


# Data of a position that was not searched.
UNKNOWN: Data = {
    "text": "", "win": None, "loss": 0.0, "grade": "", "gradeText": "", "best": False, "lines": [], "why": [],
}  # fmt: skip


def judged_data(result: AnalysedGame, ply: int) -> Data:
    """Return the search's results for the position after `ply` moves and the move that led to it."""
    score = result.score(ply)  # Black's
    data = UNKNOWN | {
        "text": score_text(score), "win": percent(score.value), "lines": list(lines_of(result, ply))
    }  # fmt: skip
    if not ply:
        return data
    move = result.judged[ply - 1]
    return data | {
        "loss": move.loss,
        "grade": move.grade.name if move.grade else "",
        "gradeText": grade_name(move.grade),
        "best": move.best,
        "why": explanations(result, ply),
    }


def lines_of(result: AnalysedGame, ply: int) -> Iterator[Data]:
    """Yield the lines of a position, the line that was better than its move, and the refutation of a bad move."""
    lines = result.evaluated[ply].lines
    for number, line in enumerate(lines):
        yield line_data(result, ply, "candidate" if number else "best", line)
    if ply and result.better_line(ply):
        yield line_data(result, ply - 1, "better", result.evaluated[ply - 1].lines[0])
    if ply and result.judged[ply - 1].grade and lines:
        yield line_data(result, ply, "refutation", lines[0])


def line_data(result: AnalysedGame, ply: int, kind: str, line: Variation) -> Data:
    """Return the data of a line from the position after `ply` moves."""
    moves = result.named(ply, line.pv[:MOVES_SHOWN])
    names = {"moves": [move.usi for move in moves], "names": [marked(move.text) for move in moves]}
    return {"kind": kind, "text": score_text(line.score.pov(load_core().black)), **names}
