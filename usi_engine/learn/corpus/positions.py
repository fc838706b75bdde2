"""Positions of files with their labels, one after the other or as a data set of PyTorch."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core_ext.board import Board
from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.game import Item, ScoredGame, SourceError
from usi_engine.records.faults import Fault

AnyPath = str | os.PathLike[str]
Value = TypeVar("Value")


@dataclass(frozen=True)
class LabelledPosition:
    """A position with the move played in it.

    `score` is centipawns for the side to move, None if the file has none. `result` is 1 if the side to move won, -1 if
    it lost, 0 for a draw, None for a position without a game.
    """

    board: Board
    move: str
    score: int | None
    result: int | None


def positions(
    files: AnyPath | Iterable[AnyPath], on_fault: Callable[[ValueError], object] | None = None
) -> Iterator[LabelledPosition]:
    """Yield every position of files in the formats that `learn corpus` reads (docs/learning.md), in their order.

    A fault in a game or position is a ValueError that names its place, and is raised or passed to `on_fault`; the
    positions before it have been yielded. SourceError for a file of another format, OSError.
    """
    for path in [files] if isinstance(files, (str, os.PathLike)) else files:
        for chunk in read_chunks(Path(path)):
            for index, item in enumerate(chunk.items()):
                try:
                    yield from positions_of(item)
                except ValueError as error:
                    fault = SourceError(f"{chunk.place(index)}: {error}")
                    if on_fault is None:
                        raise fault from None
                    on_fault(fault)


def positions_of(item: Item) -> Iterator[LabelledPosition]:
    """Yield the positions of a game, or a position once for each of its valued moves. ValueError."""
    if isinstance(item, Fault):
        raise SourceError(item.reason)
    board = Board(item.start)
    if not isinstance(item, ScoredGame):
        for move, value in zip(item.moves, item.values, strict=True):
            yield LabelledPosition(board.copy(), move, value, None)
        return
    for move, score in zip(item.moves, item.scores, strict=True):
        before = board.copy()
        board.push(move)
        yield LabelledPosition(before, move, score, -item.result if before.turn else item.result)


def shuffled(values: Iterable[Value], size: int, seed: int | str = 0) -> Iterator[Value]:
    """Yield the values in an order that the seed decides: `size` of them are held, and each new one replaces one."""
    rng, held = random.Random(seed), list[Value]()
    for value in values:
        if len(held) < size:
            held.append(value)
        elif size:
            place = rng.randrange(size)
            yield held[place]
            held[place] = value
        else:
            yield value
    rng.shuffle(held)
    yield from held
