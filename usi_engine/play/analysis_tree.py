"""The record that the place Analyse shows: a tree of moves with numbered nodes, one of which is on the board."""

from collections.abc import Sequence

from core_ext.board import Board
from usi_engine.analysis.formations import Formation, formation_sentences, name_formations
from usi_engine.analysis.judgement import judge
from usi_engine.analysis.page import Data, judged_data, place_data, position_data
from usi_engine.analysis.words import side_names
from usi_engine.language import _
from usi_engine.records.tree import Node, Record, Step
from usi_engine.rules import MoveError

MOST_NODES = 5000


class AnalysisTree:
    """A record and its node on the board, `here`. Pages name nodes by numbers, which are not used again."""

    def __init__(self, record: Record) -> None:
        self.record, self.here = record, record.root
        self._nodes = dict[int, Node](enumerate(record.root.nodes()))
        self._next = len(self._nodes)
        self._judged = dict[Node, tuple[object, Data]]()  # what a judgement was made from, and its data
        self._formations: tuple[tuple[str, ...], dict[Node, list[Formation]]] = ((), {})  # of this main line

    def node(self, number: object) -> Node:
        """Return the node of a number. MoveError."""
        found = self._nodes.get(number) if isinstance(number, int) else None
        if found is None:
            raise MoveError(_("the position has changed in the meantime"))
        return found

    def board(self, node: Node) -> Board:
        """Return the position of a node, with the moves before it."""
        return Board.from_moves(node.moves(), self.record.start)

    def number(self) -> int:
        """Return the number of the node on the board."""
        return next(number for number, node in self._nodes.items() if node is self.here)

    def go(self, node: Node) -> None:
        """Show a node."""
        self.here = node

    def play(self, node: Node, moves: Sequence[str]) -> None:
        """Show the node after these moves, which become a variation if they are new. MoveError."""
        board = self.board(node)
        for move in moves:
            if not board.is_legal(move):
                raise MoveError(_("'{text}' is not legal here").format(text=move))
            board.push(move)
            node = next((one for one in node.variations if one.move == move), None) or self._add(node, move)
        self.here = node

    def _add(self, node: Node, move: str) -> Node:
        if len(self._nodes) >= MOST_NODES:
            raise MoveError(_("an analysis has at most {count} moves").format(count=MOST_NODES))
        made = node.add(move)
        self._nodes[self._next] = made
        self._next += 1
        return made

    def promote(self, node: Node) -> None:
        """Let the variation of a node go before the others: it becomes the main line if it is one of its variations."""
        for one in reversed(node.path()[1:]):
            assert one.parent is not None
            if one.parent.next() is not one:
                one.parent.variations.remove(one)
                one.parent.variations.insert(0, one)
                one.parent.end = None
                return

    def delete(self, node: Node) -> None:
        """Delete a move with all that follows. MoveError for the start."""
        if node.parent is None:
            raise MoveError(_("the start cannot be deleted"))
        if node in self.here.path():
            self.here = node.parent
        node.parent.variations.remove(node)
        deleted = set(node.nodes())
        self._nodes = {number: one for number, one in self._nodes.items() if one not in deleted}

    def state(self) -> Data:
        """Return the data of all nodes and of the node on the board."""
        numbers = {node: number for number, node in self._nodes.items()}
        board, names = self.board(self.here), side_names(self.record)
        if self._formations[0] != self.record.moves:
            self._formations = (self.record.moves, name_formations(self.record))
        return {
            "title": "☗ {} - ☖ {}".format(*self.record.players) if any(self.record.players) else "",
            "here": numbers[self.here],
            "legal": board.legal_moves(include_all=True),
            "plies": len(self.record.moves),
            "nodes": [self._data(step, numbers, names) for step in self.record.walk()],
        }

    def _data(self, step: Step, numbers: dict[Node, int], names: tuple[str, str]) -> Data:
        node = step.node
        searched = (node.analysis, node.parent and node.parent.analysis)
        known = self._judged.get(node)
        if known is None or known[0] != searched:
            known = self._judged[node] = (searched, position_data(step) | shown_judgement(step, names))
        why = known[1]["why"] + formation_sentences(self._formations[1].get(node, ()))
        return known[1] | place_data(node, numbers) | {"comment": node.comment or "", "why": why}


def shown_judgement(step: Step, names: tuple[str, str]) -> Data:
    """Return the value, the grade and its reasons, the better move, and the lines beside a bad one."""
    judged, move = judged_data(step, names), judge(step.node)
    parent = step.node.parent
    better = parent.analysis.move if move and move.grade and parent and parent.analysis else None
    shown = {name: judged[name] for name in ("text", "win", "loss", "grade", "gradeText", "best", "why")}
    lines = [line for line in judged["lines"] if line["kind"] in ("better", "refutation")]
    return shown | {"better": better, "lines": lines}
