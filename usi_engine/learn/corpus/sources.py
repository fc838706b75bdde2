"""Readers of files of games: text as self-play writes it, packed positions, and the records that `analyze` reads.

A file is read in chunks, which are small and cheap to read; another process may decode the items of a chunk.
"""

from __future__ import annotations

import gzip
import lzma
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from rsshogi.record import decode_sbinpack_file

from usi_engine.learn.corpus import packed, packed_games
from usi_engine.learn.game import RESULTS, START, Item, ScoredGame, SourceError, ValuedMoves, clamped_score
from usi_engine.records.faults import Fault, RecordError
from usi_engine.records.formats import SUFFIXES
from usi_engine.records.games import Game, read_games

LINES = 128  # in a chunk
LONGEST_LINE = 1 << 20  # characters
LONGEST_SCORE = 6  # characters of a score that certainly fits 16 bits or is clamped by the core
# rsshogi ends the process at an illegal move in a damaged file, so that another process must try the file first.
TRY_SBINPACK = "import sys; from rsshogi.record import decode_sbinpack_file as decode; decode(sys.argv[1])"
NOT_A_GAME = "a position with scored moves is not a game"
SCORE = re.compile(r"^\*\* ([-+]?\d{1,9})(?= |$)", re.M)


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


def one_line_fault(error: Exception) -> Fault:
    return Fault(" ".join(str(error).split()))


def read_path(path: Path) -> Iterator[list[Path]]:
    """Yield the path as the only chunk, for files that are read whole. OSError if the file cannot be opened."""
    with path.open("rb"):
        yield [path]


def decode_records(paths: list[Path]) -> Iterator[Item]:
    """Yield the games of record files; a game with a fault is left out."""
    for path in paths:
        for game in read_games(path):
            if isinstance(game, RecordError):
                yield Fault(str(game).removeprefix(str(path)).lstrip(",: 、："))
            elif not game.record.fault:  # the fault comes next
                yield scored_game(game)


def scored_game(game: Game) -> ScoredGame | Fault:
    """Convert a game; a comment line `** 30` gives the score of its move for Black, as on floodgate."""
    if game.result is None:
        return Fault(f"no result: {game.end.word or game.end.name if game.end else 'no end'}")
    sign, scores = (-1 if game.start.split()[1] == "w" else 1), list[int | None]()
    for node in game.record.main_line:
        value = SCORE.search(node.comment) if node.comment else None
        scores.append(clamped_score(sign * int(value[1])) if value else None)
        sign = -sign
    return ScoredGame(game.start, list(game.moves), scores, game.result)


def decode_sbinpack(paths: list[Path]) -> Iterator[Item]:
    """Yield the games of ShogiArena's sbinpack files, read by rsshogi; their scores are the mover's."""
    for path in paths:
        command = [sys.executable, "-c", TRY_SBINPACK, str(path)]
        if subprocess.run(command, capture_output=True, check=False).returncode not in (0, 1):
            yield Fault("it is damaged: rsshogi cannot read it")
            continue
        try:
            records = [record for record, _ in decode_sbinpack_file(str(path))]
        except (ValueError, OSError) as error:
            yield one_line_fault(error)
            continue
        yield from map(game_of_record, records)


def game_of_record(record: Any) -> ScoredGame | Fault:
    """Convert an rsshogi record."""
    winners = ((record.result.is_black_win(), 1), (record.result.is_white_win(), -1), (record.result.is_draw(), 0))
    result = next((result for holds, result in winners if holds), None)
    if result is None:
        return Fault(f"no result: {record.result}")
    scores = [clamped_score(entry.engine_info.eval) if has_score(entry) else None for entry in record.moves]
    return ScoredGame(record.init_position_sfen, [str(entry.move) for entry in record.moves], scores, result)


def has_score(entry: Any) -> bool:
    return entry.engine_info is not None and entry.engine_info.eval is not None


@dataclass(frozen=True)
class Format:
    """A file format: `chunks` reads a file in parts, `decode` turns each part into items."""

    unit: str  # name of an item in messages
    chunks: Callable[[Path], Iterator[list[Any]]]
    decode: Callable[[list[Any]], Iterator[Item]]
    together: int = 1  # items that are held out together


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
    **dict.fromkeys(SUFFIXES, Format("game", read_path, decode_records)),
    ".sbinpack": Format("game", read_path, decode_sbinpack),
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
    """Games of files, numbered from 1. Faults and positions with valued moves are counted as skipped."""

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
                else:
                    self.skipped.add(chunk.place(index), item.reason if isinstance(item, Fault) else NOT_A_GAME)
