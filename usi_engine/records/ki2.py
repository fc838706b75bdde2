"""KI2, whose moves (▲５八金右) are resolved by the legal moves.

rsshogi's own reader ends the whole program at an illegal move of KI2. It gets the text without its moves, which are
resolved here: first by piece and square, then by the words that tell pieces apart (右 左 直 上 寄 引), which rsshogi
writes for each legal move. A text may have more of these words than necessary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rsshogi.core
from rsshogi.record import MoveEntry, Record

from usi_engine.core import load_core
from usi_engine.records.faults import Fault, FaultyText, excerpt, fault_in_lines, strict
from usi_engine.records.kif import check_handicap, main_line

if TYPE_CHECKING:
    from core_ext.board import Board

HINT = re.compile(r"^[▲△▼▽☗☖][\s　]*[１-９同]", re.M)
MOVE = re.compile(
    r"([▲△▼▽☗☖]?)[\s　]*(同|[１-９1-9][一二三四五六七八九])[\s　]*"
    r"(成香|成桂|成銀|[歩香桂銀金角飛玉王と杏圭全馬龍竜])([左右直上行寄引下]*)(打|成|不成)?"
)
# The beginning of a line of moves, even of misspelt ones (７ 六歩), which rsshogi would read too. The numbers of the
# files above a diagram (９ ８ ７ ...) match too.
MOVE_LINE = re.compile(r"[▲△▼▽☗☖\d同]")
FILES = re.compile(r"[\s　]*".join("９８７６５４３２１"))
# Synonyms, translated to the character that rsshogi writes.
SYNONYMS = str.maketrans({"王": "玉", "竜": "龍", "行": "上", "下": "引"})
SHORT = {"成香": "杏", "成桂": "圭", "成銀": "全"}
BLACK_MARKS, WHITE_MARKS = "▲▼☗", "△▽☖"
KANJI = "一二三四五六七八九"


@dataclass
class SplitText:
    """Lines without moves, moves with their line numbers, comment lines by the number of moves before them."""

    other: list[str]
    moves: list[tuple[int, re.Match[str]]]
    comments: dict[int, list[str]]


def read(text: str) -> Record:
    """Read KI2; variations are skipped. ValueError; FaultyText at a move."""
    check_handicap(text)
    split = split_text(main_line(text))
    frame = strict(Record.from_ki2_str("\n".join(split.other) + "\n"), 0)
    comments = {count: "\n".join(lines) for count, lines in split.comments.items()}
    moves = resolve_moves(frame.init_position_sfen, split)
    entries = [MoveEntry(move, comment=comments.get(count)) for count, move in enumerate(moves, 1)]
    return Record.from_main_line(
        frame.init_position_sfen, entries, frame.main_terminal, frame.metadata, comments.get(0)
    )


def find_fault(text: str, error: ValueError) -> Fault:
    """Find the fault for which `read` raised `error`."""
    return error.fault if isinstance(error, FaultyText) else fault_in_lines(read, text, error, lambda *_: 0)


def split_text(text: str) -> SplitText:
    """Sort the lines of a text. FaultyText if a line of moves has anything else."""
    split = SplitText([], [], {})
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if line.startswith("*"):
            split.comments.setdefault(len(split.moves), []).append(line[1:])
        elif MOVE_LINE.match(words) and not FILES.fullmatch(words):
            add_moves(split, number, line)
        else:
            split.other.append(line)
    return split


def add_moves(split: SplitText, number: int, line: str) -> None:
    """Add the moves of a line, which has only spaces between them."""
    at = 0
    for match in [*MOVE.finditer(line), None]:
        between = line[at : match.start() if match else len(line)].strip()
        if between:
            raise FaultyText(Fault("not a move", number, len(split.moves) + 1, excerpt(between)))
        if match:
            split.moves.append((number, match))
            at = match.end()


def resolve_moves(start: str, text: SplitText) -> list[str]:
    """Return the moves in USI. FaultyText."""
    core = load_core()
    board, moves = core.board(start), list[str]()
    for line, match in text.moves:
        number, quoted = len(moves) + 1, excerpt(match[0])
        if match[1] and match[1] not in (BLACK_MARKS if board.turn == core.black else WHITE_MARKS):
            raise FaultyText(Fault("a move of the other side", line, number, quoted))
        found = candidates(match, board)
        if len(found) != 1:
            raise FaultyText(Fault("ambiguous move" if found else "illegal move", line, number, quoted))
        moves.append(found[0])
        board.push(found[0])
    return moves


def candidates(match: re.Match[str], board: Board) -> list[str]:
    """Return the legal moves, in USI, that a move of KI2 may mean after the moves of `board`."""
    before, position = board.moves()[-1:], rsshogi.core.Board(board.sfen())
    square = before[0][2:4] if match[2] == "同" and before else square_of(match[2])
    legal = [move for move in board.legal_moves(include_all=True) if move[2:4] == square]
    texts = [(move, rsshogi.core.Move.from_usi(move).to_ki2(position)) for move in legal]
    named = [(move, MOVE.match(text)) for move, text in texts if text]
    return matching_moves(match, [(move, name) for move, name in named if name])


def square_of(text: str) -> str:
    """Return `７六` as `7f`; empty for 同 without a move before."""
    return "" if text == "同" else f"{int(text[0])}{'abcdefghi'[KANJI.index(text[1])]}"


def matching_moves(wanted: re.Match[str], named: list[tuple[str, re.Match[str]]]) -> list[str]:
    """Return the moves that the text may mean. `named` are the legal moves to its square with their KI2 texts."""
    piece, ending = piece_name(wanted[3]), wanted[5] or ""
    same = [
        (move, name) for move, name in named if piece_name(name[3]) == piece and (name[5] == "成") == (ending == "成")
    ]
    on_board = [(move, name) for move, name in same if move[1] != "*"]
    if ending == "打" or not on_board:
        return [move for move, _ in same if move[1] == "*"]
    words = set(wanted[4].translate(SYNONYMS))
    exact = [move for move, name in on_board if set(name[4].translate(SYNONYMS)) == words]
    fitting = [move for move, name in on_board if set(name[4].translate(SYNONYMS)) <= words]
    return exact if len(exact) == 1 else fitting or [move for move, _ in on_board]


def piece_name(piece: str) -> str:
    """Return one name for the synonyms of a piece."""
    return SHORT.get(piece, piece).translate(SYNONYMS)
