"""Files of games that a run appends to: text (.tsv) or packed games (.games). An interrupted run resumes at the end."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from usi_engine.files import naming_errors
from usi_engine.learn.corpus.buckets import write_positions
from usi_engine.learn.corpus.packed_games import CutBlockError, decode, encode_block, read_blocks
from usi_engine.learn.corpus.sources import parse_game_line
from usi_engine.learn.files import check_output, check_suffix
from usi_engine.learn.game import LETTERS, START, ScoredGame, SourceError
from usi_engine.records.faults import Fault

TEXT_SUFFIX, PACKED_SUFFIX = ".tsv", ".games"
BLOCK = 1000  # games in a block of packed games, except the last block
WRITE_SECONDS = 30.0  # after which the last block is written again, with the games that have come since
COMPLETE_LINE = re.compile(rb"[bwd]\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\n")
CUT_LINE = re.compile(rb"[bwd](\t[^\t\n]*){0,3}")


def line_of(game: ScoredGame) -> str:
    start = "startpos" if game.start == START else game.start
    words = (f"{move} {'-' if score is None else score}" for move, score in zip(game.moves, game.scores, strict=True))
    return f"{LETTERS[game.result]}\t{game.ending}\t{start}\t{' '.join(words)}\n"


def key_of(line: str) -> int:
    """Return a hash of start and moves of a game's line. It is valid in this process only."""
    start, words = line.rstrip("\n").split("\t")[2:]
    return hash(("startpos" if start == START else start, *words.split()[::2]))


def check_game(path: Path, number: int, line: bytes) -> None:
    """Raise SourceError if a line is not a game, or without a newline cannot be the beginning of one."""
    pattern = COMPLETE_LINE if line.endswith(b"\n") else CUT_LINE
    if not pattern.fullmatch(line):
        quoted = line[:60].decode(errors="replace").rstrip()
        raise SourceError(f"{path}, line {number}: not a game: '{quoted}'; nothing is added to this file")


def keys_in(path: Path) -> tuple[list[int], int]:
    """Return the key of each complete game in a text file, and the size of their lines. SourceError."""
    keys: list[int] = []
    complete = 0
    with path.open("rb") as lines:
        for line in lines:
            check_game(path, len(keys) + 1, line)
            if line.endswith(b"\n"):
                complete += len(line)
                keys.append(key_of(line.decode(errors="replace")))
    return keys, complete


class TextFile:
    """A text file, open for appending. `keys` are those of the games in it when it was opened."""

    def __init__(self, path: Path) -> None:
        self.keys: list[int] = []
        if path.exists():
            self.keys, complete = keys_in(path)
            os.truncate(path, complete)
        self._file = path.open("a", encoding="utf-8")

    def add(self, line: str) -> None:
        """Append a game, or several lines."""
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class PackedFile:
    """A file of packed games, open for appending.

    The last block is written again until it has BLOCK games, so the bytes do not depend on interruptions. If one ends
    the process within WRITE_SECONDS or while it writes, the games of that block must be played again.
    """

    def __init__(self, path: Path) -> None:
        self.keys: list[int] = []
        self._games: list[ScoredGame] = []  # of the last block
        self._at, self._block = 0, b""  # where it begins, and its bytes in the file
        if path.exists():
            self._read(path)
        self._file = path.open("ab", buffering=0)
        self._unwritten, self._written = 0, time.monotonic()
        self._begin_block()

    def _read(self, path: Path) -> None:
        """Read the games and cut off an incomplete last block. SourceError."""
        try:
            for self._at, packed in read_blocks(path):
                self._games = [checked(path, game) for game in decode(packed)]
                self.keys += (key_of(line_of(game)) for game in self._games)
        except CutBlockError as cut:
            os.truncate(path, cut.at)
        with path.open("rb") as file:
            file.seek(self._at)
            self._block = file.read()

    def _begin_block(self) -> None:
        if len(self._games) >= BLOCK:
            self._at, self._block, self._games = self._file.seek(0, os.SEEK_END), b"", []

    def add(self, line: str) -> None:
        """Append a game."""
        self._games.append(parse_game_line(line))
        self._unwritten += 1
        if len(self._games) >= BLOCK or time.monotonic() >= self._written + WRITE_SECONDS:
            self._write()

    def _write(self) -> None:
        block = encode_block(self._games)
        try:
            self._replace(block)
        except OSError:
            self._replace(self._block)  # games of an earlier run stay if the disk is full
            raise
        self._block, self._unwritten, self._written = block, 0, time.monotonic()
        self._begin_block()

    def _replace(self, block: bytes) -> None:
        self._file.truncate(self._at)
        write_positions(self._file, np.frombuffer(block, np.uint8))

    def close(self) -> None:
        """Write the games that have come since the last block was written."""
        try:
            if self._unwritten:
                self._write()
        finally:
            self._file.close()


def checked(path: Path, game: ScoredGame | Fault) -> ScoredGame:
    if isinstance(game, Fault):
        raise SourceError(f"{path}: {game.reason}; nothing is added to this file")
    return game


@contextmanager
def appending(path: Path) -> Iterator[TextFile | PackedFile]:
    """Open a file of games at its end, without an incomplete last game or block. SourceError if it is another file."""
    check_suffix(path, TEXT_SUFFIX, PACKED_SUFFIX)
    check_output(path)
    with naming_errors(path):
        file = PackedFile(path) if path.suffix.lower() == PACKED_SUFFIX else TextFile(path)
        try:
            yield file
        finally:
            file.close()
