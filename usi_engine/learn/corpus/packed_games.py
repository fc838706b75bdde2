"""Packed games (.games): two bytes a move, in blocks that are read independently. Such files can be concatenated.

A block is MAGIC and three streams, each with the length of its xz data (u64, little-endian) before it:

    heads   a line for each game: start (sfen), result (b, w, d), ending and number of moves, separated by tabs;
            before the first, a line that begins with `# made ` may say how the file was made
    moves   the place of each move among the sorted USI texts of `Board.legal_moves()`: a byte, or 255 and a u16
    scores  for each move 0 (no score), or 1 + the zigzag code of its score plus the score before, 0 at first, as a
            varint: 7 bits a byte, the lowest first. A move without a score counts as one of minus the score before.
"""

import lzma
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core_ext.corpus import NO_SCORE, GameReader
from usi_engine.learn.game import HEAD, LARGEST_SCORE, LETTERS, RESULTS, ScoredGame, SourceError, clamped_score
from usi_engine.records.faults import Fault

PLIES = re.compile("[0-9]{1,6}")
MAGIC = b"KGAMES1\n"
ESCAPE = 255  # of a place that does not fit a byte
LONGEST_VARINT = 3
GAMES = 128  # in a chunk
LARGEST_STREAM = 1 << 28  # bytes

Array = npt.NDArray[Any]


class CutBlockError(SourceError):
    """The last block of a file is not complete; it begins at byte `at`."""

    def __init__(self, path: Path | str = "", at: int = 0) -> None:
        super().__init__(f"{path}: the block of games at byte {at} is cut off")
        self.at = at


class PackedGame(NamedTuple):
    """A game whose moves are places among the sorted legal moves; a score of NO_SCORE is none."""

    start: str
    result: str
    ending: str
    places: Array
    scores: Array


def decompressed(data: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor()
    found = decompressor.decompress(data, LARGEST_STREAM)
    if not decompressor.eof:
        raise ValueError("a stream is cut off or too long")
    return found


def read_stream(file: IO[bytes], size: int) -> bytes:
    """Read a stream of a file of this size. CutBlockError, ValueError."""
    length = file.read(8)
    if len(length) < 8 or int.from_bytes(length, "little") > size - file.tell():
        raise CutBlockError
    return decompressed(file.read(int.from_bytes(length, "little")))


def read_places(stream: bytes) -> Array:
    """Decode the stream of moves. ValueError."""
    data = np.frombuffer(stream, np.uint8)
    escapes: list[int] = []
    for at in np.flatnonzero(data == ESCAPE).tolist():
        if not escapes or at > escapes[-1] + 2:
            escapes.append(at)
    if escapes and escapes[-1] + 2 >= len(data):
        raise ValueError("its moves are cut off")
    wide = np.array(escapes, np.int64)
    places = data.astype(np.uint16)
    places[wide] = data[wide + 1] | data[wide + 2].astype(np.uint16) << 8
    return np.delete(places, np.concatenate([wide + 1, wide + 2]))


def read_varints(stream: bytes) -> Array:
    """Decode varints of at most LONGEST_VARINT bytes. ValueError."""
    data = np.frombuffer(stream, np.uint8).astype(np.int64)
    ends = np.flatnonzero(data < 128)
    lengths = np.diff(ends, prepend=-1)
    if (ends[-1] if len(ends) else -1) != len(data) - 1 or lengths.max(initial=0) > LONGEST_VARINT:
        raise ValueError("its scores are damaged")
    values = data[ends]
    for back in range(1, LONGEST_VARINT):
        longer = lengths > back
        values[longer] = values[longer] << 7 | data[ends[longer] - back] & 127
    return values


def decode_scores(codes: Array, firsts: Array, lengths: Array) -> Array:
    """Return the scores of games from their codes. ValueError if one does not fit."""
    codes_of_gaps = np.maximum(codes - 1, 0)
    gaps = np.where(codes_of_gaps & 1, -(codes_of_gaps + 1 >> 1), codes_of_gaps >> 1)
    signs = 1 - 2 * ((np.arange(len(codes)) - np.repeat(firsts, lengths)) & 1)
    sums = np.cumsum(signs * gaps)  # of Black's scores, if Black began
    before = np.concatenate([[0], sums])[firsts]
    scores = signs * (sums - np.repeat(before, lengths))
    if np.abs(scores).max(initial=0) > LARGEST_SCORE:
        raise ValueError("a score is too large")
    scores[codes == 0] = NO_SCORE
    return np.asarray(scores)


def decode_block(heads: bytes, moves: bytes, scores: bytes) -> list[PackedGame]:
    """Return the games of a block. ValueError."""
    lines = [line.split("\t") for line in heads.decode().splitlines() if not line.startswith(HEAD)]
    if any(len(line) != 4 or line[1] not in RESULTS or not PLIES.fullmatch(line[3]) for line in lines):
        raise ValueError("a head is damaged")
    lengths = np.array([int(line[3]) for line in lines], np.int64)
    firsts = np.cumsum(lengths) - lengths
    places, codes = read_places(moves), read_varints(scores)
    if not len(places) == len(codes) == lengths.sum():
        raise ValueError(f"{lengths.sum()} moves, {len(places)} places and {len(codes)} scores")
    values = decode_scores(codes, firsts, lengths)
    parts = zip(lines, np.split(places, firsts[1:]), np.split(values, firsts[1:]), strict=True)
    return [PackedGame(line[0], line[1], line[2], *arrays) for line, *arrays in parts] if lines else []


def read_blocks(path: Path) -> Iterator[tuple[int, list[PackedGame]]]:
    """Yield the place of each block in the file and its games. OSError; SourceError names a damaged block's place."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while (at := file.tell()) < size:
            try:
                if not MAGIC.startswith(file.read(len(MAGIC))):
                    raise ValueError("it does not begin as one")
                games = decode_block(*(read_stream(file, size) for _ in range(3)))
            except CutBlockError:
                raise CutBlockError(path, at) from None
            except (ValueError, lzma.LZMAError) as error:
                raise SourceError(f"{path}: the block of games at byte {at} is damaged: {error}") from None
            yield at, games


def read_head(path: Path) -> str:
    """Return the line that says how the file was made; empty if there is none or the first block is cut off."""
    with suppress(ValueError, lzma.LZMAError), path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            heads = read_stream(file, path.stat().st_size).decode()
            return heads[: heads.find("\n") + 1] if heads.startswith(HEAD) else ""
    return ""


def read_games(path: Path) -> Iterator[list[PackedGame]]:
    """Yield chunks of games. SourceError, OSError."""
    for _, games in read_blocks(path):
        yield from (games[at : at + GAMES] for at in range(0, len(games), GAMES))


def decode(games: Iterable[PackedGame]) -> Iterator[ScoredGame | Fault]:
    """Yield each game, or its fault: a wrong start or a place that no legal move has."""
    reader = GameReader()
    for game in games:
        try:
            moves = reader.moves_at(game.start, game.places.tolist())
        except ValueError as error:
            yield Fault(str(error))
            continue
        scores = [None if score == NO_SCORE else score for score in game.scores.tolist()]
        yield ScoredGame(game.start, moves, scores, RESULTS[game.result], game.ending)


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 128:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def encode_scores(scores: Iterable[int | None]) -> bytes:
    """Return the codes of a game's scores."""
    data, last = b"", 0
    for score in scores:
        if score is None:
            data, last = data + varint(0), -last
            continue
        gap, last = score + last, score
        data += varint(1 + (gap << 1 if gap >= 0 else (-gap << 1) - 1))
    return data


def encode_place(place: int) -> bytes:
    return bytes([ESCAPE, place & 255, place >> 8] if place >= ESCAPE else [place])


def encode_block(games: Iterable[ScoredGame], head: str = "") -> bytes:
    """Return a block of games with this line before them. ValueError for an illegal or dominated move."""
    reader, heads, moves, scores = GameReader(), head, bytearray(), bytearray()
    for game in games:
        places = reader.places_of(game.start, game.moves)
        heads += f"{game.start}\t{LETTERS[game.result]}\t{game.ending}\t{len(places)}\n"
        moves += b"".join(map(encode_place, places))
        scores += encode_scores(None if score is None else clamped_score(score) for score in game.scores)
    streams = [lzma.compress(stream, preset=6) for stream in (heads.encode(), moves, scores)]
    return MAGIC + b"".join(len(stream).to_bytes(8, "little") + stream for stream in streams)
