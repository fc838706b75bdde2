"""Readers of files of games: text as self-play writes it, and, through rsshogi, records and positions.

A file is read in chunks, which are small and cheap to read; another process may decode the items of a chunk.
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

from usi_engine.learn.corpus import packed, packed_games
from usi_engine.learn.game import RESULTS, START, Item, ScoredGame, SourceError, ValuedMoves, clamped_score
from usi_engine.records.faults import Fault
from usi_engine.records.files import read_text
from usi_engine.records.formats import parts_of

LINES = 128  # in a chunk
LONGEST_LINE = 1 << 20  # characters
LONGEST_SCORE = 6  # characters of a score that certainly fits 16 bits or is clamped by the core
SCORES = {"csa": "black", "kif": "none", "sbinpack": "mover"}  # perspective of the scores


def open_text(path: Path) -> IO[str]:
    """Open a text file, decompressed by its suffix; a byte order mark is skipped."""
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    file: IO[str] = openers.get(path.suffix.lower(), open)(path, "rt", encoding="utf-8-sig", errors="replace")
    return file


def parse_game_line(line: str) -> ScoredGame:
    """Parse a line: result (b, w, d), ending, start, then moves, each followed by its score or `-`. SourceError."""
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
    return ScoredGame(start, words[::2], scores, RESULTS[fields[0]], fields[1])


def parse_valued_line(line: str) -> ValuedMoves:
    """Parse a position with valued moves: an sfen, a tab, then `move:value` words. SourceError."""
    sfen, _, rest = line.partition("\t")
    pairs = [word.partition(":") for word in rest.split()]
    try:
        values = [clamped_score(int(value)) for _, _, value in pairs]
        return ValuedMoves(sfen, [move for move, _, _ in pairs], values)
    except ValueError as error:
        raise SourceError(f"not a value: {error}") from None


def parse_line(line: str) -> ScoredGame | ValuedMoves:
    """Parse a game, or a position with valued moves, which has one tab. SourceError."""
    return parse_valued_line(line) if line.count("\t") == 1 else parse_game_line(line)


def read_lines(path: Path) -> Iterator[list[str]]:
    """Yield chunks of lines of a .tsv file, compressed or not; what follows LONGEST_LINE counts as another line."""
    with open_text(path) as file:
        lines = iter(partial(file.readline, LONGEST_LINE), "")
        while chunk := list(islice(lines, LINES)):
            yield chunk


def decode_lines(lines: list[str]) -> Iterator[Item]:
    for line in lines:
        try:
            yield parse_line(line)
        except SourceError as error:
            yield Fault(str(error))


def result_of(result: Any) -> int | None:
    """Return 1, -1 or 0; None if the record has no result."""
    if result.is_black_win():
        return 1
    if result.is_white_win():
        return -1
    return 0 if result.is_draw() else None


def game_of_record(record: Any, scores: str) -> ScoredGame | Fault:
    """Convert an rsshogi record. `scores` is their perspective, `black` or `mover`; `none`: they are not used."""
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
    return ScoredGame(start, [str(entry.move) for entry in record.moves], found, result)


def one_line_fault(error: Exception) -> Fault:
    return Fault(" ".join(str(error).split()))


def records_in(path: Path, kind: str) -> Iterator[Any]:
    """Yield the records of a file, or a Fault for one that cannot be read; text may be UTF-8 or Shift-JIS.

    ValueError or OSError if the whole file cannot be read.
    """
    if kind == "sbinpack":
        yield from (record for record, _ in decode_sbinpack_file(str(path)))
        return
    text = read_text(path)
    read = Record.from_csa_str if kind == "csa" else Record.from_kif_str
    for part in [part for _, part in parts_of(kind, text)] if kind == "csa" else [text]:
        try:
            yield read(part)
        except ValueError as error:
            yield one_line_fault(error)


def read_path(path: Path) -> Iterator[list[Path]]:
    """Yield the path as the only chunk: rsshogi reads whole files. OSError if the file cannot be opened."""
    with path.open("rb"):
        yield [path]


def decode_records(paths: list[Path], kind: str) -> Iterator[Item]:
    """Yield the games of CSA, ShogiArena's sbinpack or KIF; KIF's scores differ by program and are not used."""
    for path in paths:
        try:
            records = list(records_in(path, kind))
        except (ValueError, OSError) as error:
            yield one_line_fault(error)
            continue
        for record in records:
            yield record if isinstance(record, Fault) else game_of_record(record, SCORES[kind])


@dataclass(frozen=True)
class Format:
    """A file format: `chunks` reads a file in parts, `decode` turns each part into items."""

    unit: str  # name of an item in messages
    chunks: Callable[[Path], Iterator[list[Any]]]
    decode: Callable[[list[Any]], Iterator[Item]]
    together: int = 1  # items that are held out together


def record_format(kind: str) -> Format:
    return Format("game", read_path, partial(decode_records, kind=kind))


def position_format(size: int, game_of: Callable[[bytes], ScoredGame]) -> Format:
    """Return a format of positions without games: neighbours, which may be of one game, are held out together."""
    chunks, decode = partial(packed.read_blocks, size=size), partial(packed.decode, game_of=game_of)
    return Format("position", chunks, decode, packed.TOGETHER)


LINE_FORMAT = Format("line", read_lines, decode_lines)
PSV_FORMAT = position_format(packed.PSV.size, packed.game_of_psv)
FORMATS: dict[str, Format] = {
    ".tsv": LINE_FORMAT,
    ".tsv.xz": LINE_FORMAT,
    ".tsv.gz": LINE_FORMAT,
    ".games": Format("game", packed_games.read_games, packed_games.decode),
    ".csa": record_format("csa"),
    ".kif": record_format("kif"),
    ".sbinpack": record_format("sbinpack"),
    ".psv": PSV_FORMAT,
    ".bin": PSV_FORMAT,
    ".hcpe": position_format(packed.HCPE.size, packed.game_of_hcpe),
    ".hcpe3": Format("game", packed.read_hcpe3, partial(packed.decode, game_of=packed.game_of_hcpe3)),
}


def format_of(path: Path) -> Format:
    """Return the format by the ending of the name. SourceError."""
    for ending, found in FORMATS.items():
        if path.name.lower().endswith(ending):
            return found
    raise SourceError(f"{path}: expected a name ending in {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Chunk:
    """Items of a file that are not yet decoded."""

    path: Path
    first: int  # number of its first item in the file, from 1
    data: list[Any]

    def items(self) -> Iterator[Item]:
        return format_of(self.path).decode(self.data)

    @property
    def together(self) -> int:
        """The number of items that are held out together."""
        return format_of(self.path).together

    def place(self, index: int) -> str:
        """Return file and number of an item, whose index in the chunk is from 0, for messages."""
        return f"{self.path}, {format_of(self.path).unit} {self.first + index}"


def chunks_of(path: Path) -> Iterator[Chunk]:
    """Yield the chunks of a file. SourceError, OSError."""
    first = 1
    try:
        for data in format_of(path).chunks(path):
            yield Chunk(path, first, data)
            first += len(data)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: damaged or cut off: {error}") from None


@dataclass
class SkippedItems:
    """Number of items that cannot be used, and the first with its reason."""

    count: int = 0
    first: str = ""

    def add(self, place: str, reason: str) -> None:
        self.join(SkippedItems(1, f"{place}: {reason}"))

    def join(self, other: SkippedItems) -> None:
        self.first = self.first or other.first
        self.count += other.count

    @property
    def line(self) -> str:
        """A line for the user; empty if nothing was skipped."""
        return f"{self.count} not used; the first: {self.first}" if self.count else ""


@dataclass
class GameSource:
    """Games of files, numbered from 1. Faults are counted; positions with valued moves are skipped."""

    paths: Iterable[Path]
    skipped: SkippedItems = field(default_factory=SkippedItems)

    def games(self) -> Iterator[tuple[int, str, ScoredGame]]:
        """Yield number, place (for messages) and game. SourceError, OSError."""
        number = 0
        for chunk in (chunk for path in self.paths for chunk in chunks_of(path)):
            for index, item in enumerate(chunk.items()):
                if isinstance(item, ScoredGame):
                    number += 1
                    yield number, chunk.place(index), item
                elif isinstance(item, Fault):
                    self.skipped.add(chunk.place(index), item.reason)
