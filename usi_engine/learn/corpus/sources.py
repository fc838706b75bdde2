"""Games from files: text as self-play writes it, and game records of other programs through rsshogi.

A file is read in chunks, which are small and cheap to read; the items of a chunk may be decoded in another process.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from rsshogi.record import Record, decode_sbinpack_file

from usi_engine.learn.corpus import packed
from usi_engine.learn.game import (
    RESULTS,
    START,
    Fault,
    Game,
    Item,
    SourceError,
    ValuedMoves,
    clamped_score,
)
from usi_engine.records.formats import decoded, parts_of

LINES = 128  # in a chunk
LONGEST_SCORE = 6  # characters of a score that the core certainly takes
SCORES = {"csa": "black", "kif": "none", "sbinpack": "mover"}  # whose perspective a record's scores have


def open_text(path: Path) -> IO[str]:
    """A text file, decompressed by its suffix. Editors on Windows put a byte order mark before its first line."""
    suffix = path.suffix.lower()
    if suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8-sig", errors="replace")
    if suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace")
    return open(path, encoding="utf-8-sig", errors="replace")


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
    start = START if fields[2] == "startpos" else fields[2].removeprefix("sfen ")
    if len(max(words[1::2], key=len, default="")) > LONGEST_SCORE:
        scores = [None if score is None else clamped_score(score) for score in scores]
    return Game(start, words[::2], scores, RESULTS[fields[0]], fields[1])


def parse_valued_line(line: str) -> ValuedMoves:
    """One line of a valued book: an sfen, then `move:value` words."""
    sfen, _, rest = line.partition("\t")
    pairs = [word.partition(":") for word in rest.split()]
    try:
        values = [clamped_score(int(value)) for _, _, value in pairs]
        return ValuedMoves(sfen, [move for move, _, _ in pairs], values)
    except ValueError as error:
        raise SourceError(f"not a value: {error}") from None


def parse_line(line: str) -> Game | ValuedMoves:
    """A game or a position with valued moves: the latter has no result and one tab."""
    return parse_valued_line(line) if line.count("\t") == 1 else parse_game_line(line)


def read_lines(path: Path) -> Iterator[list[str]]:
    """The lines of a .tsv file, compressed or not, some at a time."""
    with open_text(path) as lines:
        while chunk := list(islice(lines, LINES)):
            yield chunk


def decode_lines(lines: list[str]) -> Iterator[Item]:
    """The item of each line."""
    for line in lines:
        try:
            yield parse_line(line)
        except SourceError as error:
            yield Fault(str(error))


def result_of(result: Any) -> int | None:
    """1, -1 or 0; None where the record has no result."""
    if result.is_black_win():
        return 1
    if result.is_white_win():
        return -1
    return 0 if result.is_draw() else None


def game_of_record(record: Any, scores: str) -> Game | Fault:
    """An rsshogi record. `scores`: their perspective, `black` or `mover`; `none`: unused."""
    result = result_of(record.result)
    if result is None:
        return Fault(f"no result: {record.result}")
    start = record.init_position_sfen
    found: list[int | None] = []
    sign = -1 if scores == "black" and start.split()[1] == "w" else 1
    for entry in record.moves:
        score = entry.engine_info.eval if scores != "none" and entry.engine_info else None
        found.append(None if score is None else sign * clamped_score(score))
        sign = -sign if scores == "black" else 1
    return Game(start, [str(entry.move) for entry in record.moves], found, result)


def one_line(error: Exception) -> Fault:
    """The fault that this error of rsshogi or of the system stands for."""
    return Fault(" ".join(str(error).split()))


def records_in(path: Path, kind: str) -> Iterator[Any]:
    """The records of a file, a Fault in place of one that cannot be read; text may be UTF-8 or Shift-JIS.

    ValueError or OSError where the whole file cannot be read.
    """
    if kind == "sbinpack":
        yield from (record for record, _ in decode_sbinpack_file(str(path)))
        return
    text = decoded(path.read_bytes())
    read = Record.from_csa_str if kind == "csa" else Record.from_kif_str
    for part in [part for _, part in parts_of(kind, text)] if kind == "csa" else [text]:
        try:
            yield read(part)
        except ValueError as error:
            yield one_line(error)


def read_whole(path: Path) -> Iterator[list[Path]]:
    """The file itself: rsshogi reads it at once. OSError where it cannot be opened."""
    with path.open("rb"):
        yield [path]


def decode_records(paths: list[Path], kind: str) -> Iterator[Item]:
    """Games of CSA, of ShogiArena's sbinpack, or one of KIF, whose result alone is used: scores differ by program."""
    for path in paths:
        try:
            records = list(records_in(path, kind))
        except (ValueError, OSError) as error:
            yield one_line(error)
            continue
        for record in records:
            yield record if isinstance(record, Fault) else game_of_record(record, SCORES[kind])


@dataclass(frozen=True)
class Format:
    """How the files with an ending are read: in chunks, each of which is decoded to its items."""

    unit: str  # what an item is in the file
    chunks: Callable[[Path], Iterator[list[Any]]]
    decode: Callable[[list[Any]], Iterator[Item]]


LINE_FORMAT = Format("line", read_lines, decode_lines)
PSV_FORMAT = Format(
    "position",
    partial(packed.read_blocks, size=packed.PSV.size),
    partial(packed.decode, game_of=packed.game_of_psv),
)
FORMATS: dict[str, Format] = {
    ".tsv": LINE_FORMAT,
    ".tsv.xz": LINE_FORMAT,
    ".tsv.gz": LINE_FORMAT,
    ".csa": Format("game", read_whole, partial(decode_records, kind="csa")),
    ".kif": Format("game", read_whole, partial(decode_records, kind="kif")),
    ".sbinpack": Format("game", read_whole, partial(decode_records, kind="sbinpack")),
    ".psv": PSV_FORMAT,
    ".bin": PSV_FORMAT,
    ".hcpe": Format(
        "position",
        partial(packed.read_blocks, size=packed.HCPE.size),
        partial(packed.decode, game_of=packed.game_of_hcpe),
    ),
    ".hcpe3": Format("game", packed.read_hcpe3, partial(packed.decode, game_of=packed.game_of_hcpe3)),
}


def format_of(path: Path) -> Format:
    """By the ending of the name. SourceError."""
    for ending, found in FORMATS.items():
        if path.name.lower().endswith(ending):
            return found
    raise SourceError(f"{path}: expected a name ending in {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Chunk:
    """Some of the items of a file, not yet decoded."""

    path: Path
    first: int  # number of its first item in the file, from 1
    data: list[Any]

    def items(self) -> Iterator[Item]:
        """What it holds. SourceError where rsshogi is needed and missing."""
        return format_of(self.path).decode(self.data)

    def place(self, index: int) -> str:
        """Where in the file the item is, counted from 0 in the chunk."""
        return f"{self.path}, {format_of(self.path).unit} {self.first + index}"


def chunks_of(path: Path) -> Iterator[Chunk]:
    """The chunks of a file. SourceError, OSError."""
    first = 1
    try:
        for data in format_of(path).chunks(path):
            yield Chunk(path, first, data)
            first += len(data)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: damaged or cut off: {error}") from None


@dataclass
class Refused:
    """Counts what is not used and keeps the first reason."""

    count: int = 0
    first: str = ""

    def add(self, place: str, reason: str) -> None:
        """Count one item."""
        self.first = self.first or f"{place}: {reason}"
        self.count += 1

    def join(self, other: Refused) -> None:
        """Count those of another count as well."""
        self.first = self.first or other.first
        self.count += other.count

    @property
    def line(self) -> str:
        """For the user; empty where nothing was refused."""
        return f"{self.count} not used; the first: {self.first}" if self.count else ""


@dataclass
class GameSource:
    """The games of files, numbered from 1; positions with valued moves are left out, faults are counted."""

    paths: Iterable[Path]
    refused: Refused = field(default_factory=Refused)

    def placed(self) -> Iterator[tuple[int, str, Game]]:
        """Number, place and game."""
        number = 0
        for path in self.paths:
            for chunk in chunks_of(path):
                for index, item in enumerate(chunk.items()):
                    if isinstance(item, Game):
                        number += 1
                        yield number, chunk.place(index), item
                    elif isinstance(item, Fault):
                        self.refused.add(chunk.place(index), item.reason)


def items_of(path: Path) -> Iterator[Item]:
    """The items of a file, read by its suffix. SourceError, OSError."""
    return (item for chunk in chunks_of(path) for item in chunk.items())
