"""Answers about a position: what `d`, `moves`, `checks`, `side`, `sfen`, `key` and `perft` print."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core_ext.board import Board


def show(what: str, board: Board, include_all: bool) -> list[str]:
    """The lines that answer the word `what`; `include_all`: with the include_all non-promotions."""
    return SHOWERS[what](board, include_all)


def show_board(board: Board, include_all: bool) -> list[str]:
    """Board and hands in ASCII, then sfen, key, checkers."""
    del include_all
    checkers = " ".join(board.checkers())
    tail = [f"sfen {board.sfen()}", f"key {board.key:016x}", f"checkers {checkers}".rstrip()]
    return board.ascii().rstrip("\n").split("\n") + tail


def perft(board: Board, depth: int) -> Iterator[str]:
    """A line for each root move as it is counted, then the sum. `board` is left as it was."""
    begun = time.perf_counter()
    total = 0
    for move in board.legal_moves(include_all=True):
        board.push(move)
        count = board.perft(depth - 1) if depth > 1 else 1
        board.pop()
        total += count
        yield f"{move} {count}"
    yield speed_line(total, time.perf_counter() - begun)


def speed_line(nodes: int, seconds: float) -> str:
    """`nodes N time MS nps X`."""
    return f"nodes {nodes} time {round(seconds * 1000)} nps {round(nodes / max(seconds, 1e-6))}"


SIDES = {"b": "black", "w": "white"}
SHOWERS: dict[str, Callable[[Board, bool], list[str]]] = {
    "d": show_board,
    "moves": lambda board, include_all: [" ".join(board.legal_moves(include_all=include_all))],
    "checks": lambda board, include_all: [" ".join(board.checking_moves(include_all=include_all))],
    "side": lambda board, include_all: [SIDES[board.sfen().split()[1]]],
    "sfen": lambda board, include_all: [board.sfen()],
    "key": lambda board, include_all: [f"{board.key:016x}"],
}
