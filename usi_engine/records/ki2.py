"""Moves of KI2 (▲５八金右) resolved by the legal moves.

rsshogi's own reader ends the whole program at an illegal move of KI2, so it gets the text without its moves, which are
resolved here: those with the same piece and square, then by the words that tell pieces apart (右 左 直 上 寄 引), which
rsshogi writes for each legal move. A text may hold more of these words than are needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from usi_engine.core import load_core

if TYPE_CHECKING:
    from core_ext.board import Board

KI2_MOVE = re.compile(
    r"([▲△▼▽☗☖]?)[\s　]*(同|[１-９1-9][一二三四五六七八九])[\s　]*"
    r"(成香|成桂|成銀|[歩香桂銀金角飛玉王と杏圭全馬龍竜])([左右直上行寄引下]*)(打|成|不成)?"
)
# How a line of moves begins; rsshogi takes such a line for moves even where they are misspelt (７ 六歩). The files over
# a diagram (９ ８ ７ ...) begin so too.
MOVE_LINE = re.compile(r"[▲△▼▽☗☖\d同]")
FILES = re.compile(r"[\s　]*".join("９８７６５４３２１"))
# Names and words that mean the same, by the one rsshogi writes.
SAME = str.maketrans({"王": "玉", "竜": "龍", "行": "上", "下": "引"})
SHORT = {"成香": "杏", "成桂": "圭", "成銀": "全"}
BLACK_MARKS, WHITE_MARKS = "▲▼☗", "△▽☖"
KANJI = "一二三四五六七八九"


class MisplacedMove(ValueError):
    """A move that cannot be played: line of the text (from 1), number of the move, its text, the reason."""

    def __init__(self, line: int, number: int, text: str, reason: str) -> None:
        super().__init__(f"line {line}, move {number}: {reason}: '{text}'")
        self.line, self.number, self.text, self.reason = line, number, text, reason


@dataclass
class Ki2Text:
    """A text taken apart: lines without moves, moves as (line, match), comment lines by the number of moves before."""

    other: list[str]
    moves: list[tuple[int, re.Match[str]]]
    comments: dict[int, list[str]]


def taken_apart(text: str) -> Ki2Text:
    """The lines of a text sorted. MisplacedMove where a line of moves holds something else."""
    found = Ki2Text([], [], {})
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if line.startswith("*"):
            found.comments.setdefault(len(found.moves), []).append(line[1:])
        elif MOVE_LINE.match(words) and not FILES.fullmatch(words):
            take_moves(found, number, line)
        else:
            found.other.append(line)
    return found


def take_moves(found: Ki2Text, number: int, line: str) -> None:
    """The moves of a line, with nothing but spaces between them."""
    at = 0
    for match in [*KI2_MOVE.finditer(line), None]:
        between = line[at : match.start() if match else len(line)].strip()
        if between:
            raise MisplacedMove(number, len(found.moves) + 1, between, "not a move")
        if match:
            found.moves.append((number, match))
            at = match.end()


def resolved(start: str, text: Ki2Text, core: Any) -> list[str]:
    """The moves in USI; `core` is the module rsshogi.core. MisplacedMove."""
    ours = load_core()
    board, moves = ours.board(start), list[str]()
    for line, match in text.moves:
        number, shown = len(moves) + 1, match[0].strip()
        if match[1] and match[1] not in (BLACK_MARKS if board.turn == ours.black else WHITE_MARKS):
            raise MisplacedMove(line, number, shown, "a move of the other side")
        found = meant(match, board, core)
        if len(found) != 1:
            raise MisplacedMove(line, number, shown, "ambiguous move" if found else "illegal move")
        moves.append(found[0])
        board.push(found[0])
    return moves


def meant(match: re.Match[str], board: Board, core: Any) -> list[str]:
    """The legal moves, in USI, that a move of KI2 may mean after the moves of `board`."""
    before, names = board.moves()[-1:], core.Board(board.sfen())
    square = before[0][2:4] if match[2] == "同" and before else square_of(match[2])
    legal = [move for move in board.legal_moves(include_all=True) if move[2:4] == square]
    named = [(move, KI2_MOVE.match(core.Move.from_usi(move).to_ki2(names))) for move in legal]
    return chosen(match, [(move, name) for move, name in named if name])


def square_of(text: str) -> str:
    """`７六` as `7g`; empty for 同 without a move before."""
    return "" if text == "同" else f"{int(text[0])}{'abcdefghi'[KANJI.index(text[1])]}"


def chosen(wanted: re.Match[str], named: list[tuple[str, re.Match[str]]]) -> list[str]:
    """The moves that the text may mean, of moves to its square with their own texts."""
    piece, ending = plain(wanted[3]), wanted[5] or ""
    found = [(move, name) for move, name in named if plain(name[3]) == piece and (name[5] == "成") == (ending == "成")]
    on_board = [(move, name) for move, name in found if move[1] != "*"]
    if ending == "打" or not on_board:
        return [move for move, _ in found if move[1] == "*"]
    words = set(wanted[4].translate(SAME))
    exact = [move for move, name in on_board if set(name[4].translate(SAME)) == words]
    fitting = [move for move, name in on_board if set(name[4].translate(SAME)) <= words]
    return exact if len(exact) == 1 else fitting or [move for move, _ in on_board]


def plain(piece: str) -> str:
    """One name for each piece."""
    return SHORT.get(piece, piece).translate(SAME)
