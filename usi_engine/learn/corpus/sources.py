"""Files of games: text as self-play writes it, packed games and positions, and the records that `analyze` reads.

A file is read in chunks, which are small and cheap to read; another process may decode the items of a chunk.
"""

import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from core_ext.shogi.notation import PASS
from usi_engine.files import atomic_write
from usi_engine.learn.corpus import packed, packed_games
from usi_engine.learn.files import check_output
from usi_engine.learn.game import HEAD, Item, ScoredGame, SkippedItems, SourceError, clamped_score, parse_line
from usi_engine.learn.settings import Export
from usi_engine.progress import Progress
from usi_engine.records.faults import Fault, RecordError
from usi_engine.records.formats import SUFFIXES
from usi_engine.records.games import Game, read_games

LINES = 128  # in a chunk
LONGEST_LINE = 1 << 20  # characters
NOT_A_GAME = "a position with scored moves is not a game"
SCORE = re.compile(r"^\*\* ([-+]?\d{1,9})(?= |$)", re.M)


def open_text(path: Path) -> IO[str]:
    """Open a text file, decompressed by its suffix; a byte order mark is skipped."""
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    file: IO[str] = openers.get(path.suffix.lower(), open)(path, "rt", encoding="utf-8-sig", errors="replace")
    return file


def read_lines(path: Path) -> Iterator[list[str]]:
    """Yield chunks of lines of a .tsv file, compressed or not; what follows LONGEST_LINE counts as another line."""
    with open_text(path) as file:
        lines = iter(partial(file.readline, LONGEST_LINE), "")
        while chunk := list(islice(lines, LINES)):
            yield chunk


def decode_lines(lines: list[str]) -> Iterator[Item]:
    for line in lines:
        if line.startswith(HEAD):
            continue
        try:
            yield parse_line(line)
        except SourceError as error:
            yield Fault(str(error))


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
    if PASS in game.moves:
        return Fault("a side passes")
    sign, scores = (-1 if game.start.split()[1] == "w" else 1), list[int | None]()
    for node in game.record.main_line:
        value = SCORE.search(node.comment) if node.comment else None
        scores.append(clamped_score(sign * int(value[1])) if value else None)
        sign = -sign
    return ScoredGame(game.start, list(game.moves), scores, game.result)


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
PSV_FORMAT = position_format(packed.PSV.size, packed.unpack_psv)
FORMATS: dict[str, Format] = {
    ".tsv": LINE_FORMAT,
    ".tsv.xz": LINE_FORMAT,
    ".tsv.gz": LINE_FORMAT,
    ".games": Format("game", packed_games.read_games, packed_games.decode),
    **dict.fromkeys(SUFFIXES, Format("game", read_path, decode_records)),
    ".psv": PSV_FORMAT,
    ".bin": PSV_FORMAT,
    ".hcpe": position_format(packed.HCPE.size, packed.unpack_hcpe),
    ".hcpe3": Format("game", packed.read_hcpe3, partial(packed.decode, game_of=packed.unpack_hcpe3)),
}


def detect_format(path: Path) -> Format:
    """Return the format by the ending of the name. SourceError."""
    for ending, found in FORMATS.items():
        if path.name.lower().endswith(ending):
            return found
    raise SourceError(f"{path}: expected a name ending in {', '.join(FORMATS)}")


@dataclass(frozen=True)
class Chunk:
    """Items of a file that are not yet decoded."""

    path: Path
    format: Format
    first: int  # number of its first item in the file, from 1
    data: list[Any]

    def items(self) -> Iterator[Item]:
        return self.format.decode(self.data)

    def place(self, index: int) -> str:
        """Return file and number of an item, whose index in the chunk is from 0, for messages."""
        heads = sum(isinstance(value, str) and value.startswith(HEAD) for value in self.data[: index + 1])
        return f"{self.path}, {self.format.unit} {self.first + index + heads}"


def read_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the chunks of a file. SourceError, OSError."""
    first, found = 1, detect_format(path)
    try:
        for data in found.chunks(path):
            yield Chunk(path, found, first, data)
            first += len(data)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: damaged or cut off: {error}") from None


@dataclass
class GameSource:
    """Games of files, numbered from 1. Faults and positions with valued moves are counted as skipped."""

    paths: Iterable[Path]
    skipped: SkippedItems = field(default_factory=SkippedItems)

    def games(self) -> Iterator[tuple[int, str, ScoredGame]]:
        """Yield number, place (for messages) and game. SourceError, OSError."""
        number = 0
        for chunk in (chunk for path in self.paths for chunk in read_chunks(path)):
            for index, item in enumerate(chunk.items()):
                if isinstance(item, ScoredGame):
                    number += 1
                    yield number, chunk.place(index), item
                else:
                    self.skipped.add(chunk.place(index), item.reason if isinstance(item, Fault) else NOT_A_GAME)


def export_packed(settings: Export) -> dict[str, Any]:
    """Write every scored position of the games with its move and result, for trainers of other programs.

    Return the number of `positions`, and in `skipped` a line about what cannot be used. SourceError, OSError.
    """
    out = settings.out
    check_output(out, packed.WRITERS, settings.games)
    write, source = packed.WRITERS[out.suffix.lower()], GameSource(settings.games)
    with Progress("games") as progress, atomic_write(out) as part, part.open("wb") as file:
        for _, place, game in source.games():
            try:
                positions = [write(position) for position in game.positions() if position.score is not None]
                if game.moves and not positions:
                    raise SourceError("its moves have no scores; `learn rescore` gives them")
            except ValueError as error:
                source.skipped.add(place, str(error))
                positions = []
            file.write(b"".join(positions))
            progress.add(1, len(positions))
        if not progress.positions:
            raise SourceError(f"no position for {out}{': ' if source.skipped.count else ''}{source.skipped.line}")
    return {"positions": progress.positions, "skipped": source.skipped.line}
