"""Games from files: text as self-play writes it, and game records of other programs through rsshogi."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
RESULTS = {"b": 1, "w": -1, "d": 0}
SCORES = {"csa": "black", "kif": "none", "sbinpack": "mover"}  # whose perspective a record's scores have


class SourceError(ValueError):
    """A file that cannot be read as games; the text quotes what is wrong."""


@dataclass(frozen=True)
class Game:
    """Moves in USI from a start position; scores in centipawns for the side to move, or None."""

    start: str
    moves: list[str]
    scores: list[int | None]
    result: int  # 1 Black won, -1 White, 0 draw


@dataclass(frozen=True)
class ValuedMoves:
    """Moves from one position with their values in centipawns for the side that makes them; no game, no result."""

    start: str
    moves: list[str]
    values: list[int]


def open_text(path: Path) -> IO[str]:
    """A text file, decompressed by its suffix."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8")


def parse_game_line(line: str) -> Game:
    """One line: result (b, w, d), how the game ended, start, then moves, each followed by its score or `-`."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) != 4 or fields[0] not in RESULTS:
        raise SourceError(f"not a game: '{line[:60].rstrip()}'")
    words = fields[3].split()
    if len(words) % 2:
        raise SourceError(f"a move without a score: '{words[-1]}'")
    try:
        scores = [None if word == "-" else int(word) for word in words[1::2]]
    except ValueError as error:
        raise SourceError(f"not a score: {error}") from None
    return Game(
        START if fields[2] == "startpos" else fields[2].removeprefix("sfen "), words[::2], scores, RESULTS[fields[0]]
    )


def parse_valued_line(line: str) -> ValuedMoves:
    """One line of a valued book: an sfen, then `move:value` words."""
    sfen, _, rest = line.partition("\t")
    pairs = [word.partition(":") for word in rest.split()]
    try:
        return ValuedMoves(sfen, [move for move, _, _ in pairs], [int(value) for _, _, value in pairs])
    except ValueError as error:
        raise SourceError(f"not a value: {error}") from None


def parse_line(line: str) -> Game | ValuedMoves:
    """A game or a position with valued moves: the latter has no result and one tab."""
    return parse_valued_line(line) if line.count("\t") == 1 else parse_game_line(line)


def read_lines(path: Path) -> Iterator[Game | ValuedMoves]:
    """The games and valued positions of a .tsv file, compressed or not."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield parse_line(line)
            except SourceError as error:
                raise SourceError(f"{path}, line {number}: {error}") from None


def rsshogi_module(name: str) -> Any:
    """A module of rsshogi, which reads other programs' records. SourceError where it is not installed."""
    try:
        return import_module(f"rsshogi.{name}")
    except ImportError:
        raise SourceError("rsshogi reads CSA, KIF, sbinpack and packed sfen: pip install rsshogi") from None


def result_of(result: Any) -> int | None:
    """1, -1 or 0; None where the record has no result."""
    if result.is_black_win():
        return 1
    if result.is_white_win():
        return -1
    return 0 if result.is_draw() else None


def game_of_record(record: Any, scores: str) -> Game | None:
    """An rsshogi record; None without a result. `scores`: their perspective, `black` or `mover`; `none`: unused."""
    result = result_of(record.result)
    if result is None:
        return None
    start = record.init_position_sfen
    found: list[int | None] = []
    sign = -1 if scores == "black" and start.split()[1] == "w" else 1
    for entry in record.moves:
        score = entry.engine_info.eval if scores != "none" and entry.engine_info else None
        found.append(None if score is None else sign * score)
        sign = -sign if scores == "black" else 1
    return Game(start, [str(entry.move) for entry in record.moves], found, result)


def records_in(reader: Any, path: Path, kind: str) -> list[Any]:
    """All records of a file."""
    if kind == "csa":
        return list(reader.Record.from_csa_games_file(str(path)))
    if kind == "sbinpack":
        return [record for record, _ in reader.decode_sbinpack_file(str(path))]
    return [reader.Record.from_kif_file(str(path))]


def read_records(path: Path, kind: str) -> Iterator[Game]:
    """Games of CSA, of ShogiArena's sbinpack, or one of KIF, whose result alone is used: scores differ by program."""
    reader = rsshogi_module("record")
    try:
        records = records_in(reader, path, kind)
    except (ValueError, OSError) as error:
        raise SourceError(f"{path}: {error}") from None
    for record in records:
        game = game_of_record(record, SCORES[kind])
        if game is not None:
            yield game


def read_packed(path: Path) -> Iterator[Game]:
    """Packed sfen values, 40 bytes each: every position is a game of one move."""
    layout, core = rsshogi_module("numpy").PackedSfenValue, rsshogi_module("core")
    with open(path, "rb") as file:
        while len(block := file.read(40 * 4096)) >= 40:
            for value in np.frombuffer(block[: len(block) // 40 * 40], dtype=layout):
                yield game_of_packed(core, value)


def game_of_packed(core: Any, value: Any) -> Game:
    """One packed position with the move chosen in it; its score and result are those of the side to move."""
    board = core.Board()
    board.set_packed_sfen(value["sfen"].tobytes())
    sfen = board.to_sfen()
    sign = 1 if sfen.split()[1] == "b" else -1
    return Game(sfen, [str(core.Move(int(value["move"])))], [int(value["score"])], sign * int(value["game_result"]))


def items_of(path: Path) -> Iterator[Game | ValuedMoves]:
    """The games, or the positions with valued moves, of a file, read by its suffix. SourceError, OSError."""
    name = path.name.lower()
    for ending, read in READERS.items():
        if name.endswith(ending):
            return read(path)
    raise SourceError(f"{path}: expected a name ending in {', '.join(READERS)}")


READERS: dict[str, Callable[[Path], Iterator[Game | ValuedMoves]]] = {
    ".tsv": read_lines,
    ".tsv.xz": read_lines,
    ".tsv.gz": read_lines,
    ".csa": partial(read_records, kind="csa"),
    ".kif": partial(read_records, kind="kif"),
    ".sbinpack": partial(read_records, kind="sbinpack"),
    ".psv": read_packed,
    ".bin": read_packed,
}
