"""Castles and openings by name: which squares a side's pieces are on, `usi_engine/data/formations.tsv`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core_ext.board import Board
from core_ext.shogi.notation import FLIPPED, RANKS
from usi_engine.analysis.words import is_japanese
from usi_engine.language import _
from usi_engine.records.tree import Node, Record

FILE = Path(__file__).resolve().parents[1] / "data" / "formations.tsv"
KINDS = ("castle", "opening")
PLIES = 40  # of an opening
SQUARES = [f"{file}{rank}" for file in "123456789" for rank in RANKS]


@dataclass(frozen=True)
class Formation:
    """A `castle` or `opening`: its names, and the alternatives for each piece: `K8h`, `p3c`, `B*`, `.2g`.

    A later one in the file is more special; an opening counts up to `plies`.
    """

    kind: str
    japanese: str
    english: str
    pieces: tuple[frozenset[str], ...]
    plies: int

    @property
    def name(self) -> str:
        """The name in the language of messages."""
        return self.japanese if is_japanese() else self.english


@cache
def formations() -> tuple[Formation, ...]:
    """Return all castles and openings, the most special first."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(read_formation(*line.split("\t")) for line in reversed(lines) if line[0] != "#")


def read_formation(kind: str, japanese: str, english: str, pieces: str, plies: str = "") -> Formation:
    """Return the formation of a line's fields."""
    wanted = tuple(frozenset(word[0] + square for square in word[1:].split("/")) for word in pieces.split())
    return Formation(kind, japanese, english, wanted, int(plies or PLIES))


def find_formation(board: Board, side: int, kind: str, ply: int = 0) -> Formation | None:
    """Return the most special castle or opening of a side, as it is after so many plies; None if there is none."""
    seen = pieces_seen(board, side)
    fitting = (one for one in formations() if all(not seen.isdisjoint(squares) for squares in one.pieces))
    return next((one for one in fitting if one.kind == kind and ply <= one.plies), None)


def pieces_seen(board: Board, side: int) -> frozenset[str]:
    """Return the pieces on the board, those in hand and the empty squares, as Black would see them on this side."""
    on_board = board.piece_map()
    placed = [(piece, square) for square, piece in on_board.items()]
    placed += [(".", square) for square in SQUARES if square not in on_board]
    placed += [(letter.swapcase() if owner else letter, "*") for owner in (0, 1) for letter in board.hand(owner)]
    return frozenset(
        piece.swapcase() + square.translate(FLIPPED) if side else piece + square for piece, square in placed
    )


def name_formations(record: Record) -> dict[Node, list[Formation]]:
    """Return the nodes of the main line whose moves make a castle, or an opening, that was not there before."""
    found, named = dict[Node, list[Formation]](), set[tuple[int, str]]()
    for step in record.walk():
        if step.begins_variation:
            break
        side = 1 - step.board.turn
        for kind in KINDS if step.ply else ():
            one = find_formation(step.board, side, kind, step.ply)
            if one and (key := (side * (kind == "castle"), one.japanese)) not in named:
                named.add(key)
                found.setdefault(step.node, []).append(one)
    return found


def opening_of(found: dict[Node, list[Formation]]) -> Formation | None:
    """Return the most special opening of those found; None without one."""
    openings = {one for formed in found.values() for one in formed if one.kind == "opening"}
    return next((one for one in formations() if one in openings), None)


def formation_headers(record: Record, found: dict[Node, list[Formation]]) -> dict[str, str]:
    """Return the lines of a header about the formations found, with keys like those of KIF."""
    opening, castles = opening_of(found), list[str]()
    for side, mark in enumerate("▲△"):
        nodes = record.main_line[side ^ record.turn() :: 2]
        names = [one.name for node in nodes for one in found.get(node, ()) if one.kind == "castle"]
        castles += [f"{mark}{_(', ').join(names)}"] if names else []
    lines = {"戦型": opening.name if opening else "", "囲い": " ".join(castles)}
    return {key: text for key, text in lines.items() if text}


def formation_sentences(found: Sequence[Formation]) -> list[str]:
    """Return what the list of moves says of formations."""
    texts = {"castle": _("Castle: {name}"), "opening": _("Opening: {name}")}
    return [texts[one.kind].format(name=one.name) for one in found]
