"""Files of games that a run appends to: text (.tsv) or packed games (.games). An interrupted run resumes at the end."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from usi_engine.files import locked, naming_errors, parsed
from usi_engine.learn.corpus.packed_games import CutBlockError, decode, encode_block, read_blocks, read_head
from usi_engine.learn.files import check_output, differences, write_whole
from usi_engine.learn.game import HEAD, ScoredGame, SourceError, parse_game_line
from usi_engine.records.faults import Fault

TEXT_SUFFIX, PACKED_SUFFIX = ".tsv", ".games"
BLOCK = 1000  # games in a block of packed games, except the last block
WRITE_SECONDS = 30.0  # after which the last block is written again, with the games that have come since
CUT_LINE = re.compile(rb"[bwd](\t[^\t\n]*){0,3}")


def complete_games(path: Path) -> Iterator[tuple[ScoredGame, int]]:
    """Yield each complete game of a text file and the offset of its end. SourceError if the file has anything else."""
    end = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            end += len(line)
            if line.startswith(HEAD.encode()) or HEAD.encode().startswith(line):  # the latter is cut off
                continue
            try:
                if line.endswith(b"\n"):
                    yield parse_game_line(line.decode(errors="replace")), end
                elif not CUT_LINE.fullmatch(line):
                    raise SourceError(f"not a game: '{line[:60].decode(errors='replace').rstrip()}'")
            except SourceError as error:
                raise SourceError(f"{path}, line {number}: {error}; nothing is added to this file") from None


def encode_lines(games: Iterable[ScoredGame], head: str = "") -> bytes:
    """Return games as text, after this line."""
    return (head + "".join(game.line for game in games)).encode()


class GameFile:
    """A file of games, open for appending, which begins with the line `head`. `keys` are those of the games in it.

    The last block of packed games is written again until it has BLOCK games, so the bytes do not depend on
    interruptions. If one ends the process within WRITE_SECONDS or while it writes, the games of that block must be
    played again. In text each game is a block.
    """

    def __init__(self, path: Path, head: str) -> None:
        packed = path.suffix.lower() == PACKED_SUFFIX
        self.keys: list[int] = []
        self._head = head  # of the first block
        self._encode, self._size = (encode_block, BLOCK) if packed else (encode_lines, 1)
        self._games: list[ScoredGame] = []  # of the last block
        self._at, self._block = 0, b""  # where it begins, and its bytes in the file
        if path.exists():
            (self._read_packed if packed else self._read_text)(path)
        self._file = path.open("ab", buffering=0)
        self._unwritten, self._written = 0, time.monotonic()
        self._begin_block()

    def _read_text(self, path: Path) -> None:
        """Read the games and cut off what follows the last complete one. SourceError."""
        for game, self._at in complete_games(path):
            self.keys.append(game.key)
        os.truncate(path, self._at)

    def _read_packed(self, path: Path) -> None:
        """Read the games and cut off an incomplete last block. SourceError."""
        try:
            for self._at, packed in read_blocks(path):
                self._games = [checked(path, game) for game in decode(packed)]
                self.keys += (game.key for game in self._games)
        except CutBlockError as cut:
            os.truncate(path, cut.at)
        with path.open("rb") as file:
            file.seek(self._at)
            self._block = file.read()
        self._head = read_head(path) if self.keys else self._head

    def _begin_block(self) -> None:
        if len(self._games) >= self._size:
            self._at, self._block, self._games = self._file.seek(0, os.SEEK_END), b"", []

    def add(self, game: ScoredGame) -> None:
        """Append a game."""
        self._games.append(game)
        self._unwritten += 1
        if len(self._games) >= self._size or time.monotonic() >= self._written + WRITE_SECONDS:
            self._write()

    def _write(self) -> None:
        block = self._encode(self._games, "" if self._at else self._head)
        try:
            self._replace(block)
        except OSError:
            self._replace(self._block)  # games of an earlier run stay if the disk is full
            raise
        self._block, self._unwritten, self._written = block, 0, time.monotonic()
        self._begin_block()

    def _replace(self, block: bytes) -> None:
        self._file.truncate(self._at)
        write_whole(self._file, block)

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


def check_made(path: Path, made: Mapping[str, Any]) -> None:
    """Raise SourceError if a file of games says that it was made with other settings."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        head = read_head(path) if path.suffix.lower() == PACKED_SUFFIX else file.readline()
    found = parsed(head.removeprefix(HEAD).encode()) if head.startswith(HEAD) else None
    if isinstance(found, dict) and (other := differences(found, json.loads(json.dumps(made)))):
        raise SourceError(f"--out {path}: was made with other settings ({other}); choose another --out")


@contextmanager
def reserved(path: Path, made: Mapping[str, Any], *suffixes: str, inputs: Iterable[Path] = ()) -> Iterator[str]:
    """Lock a file of games; yield its head. OSError if another run writes it, SourceError for other settings."""
    check_output(path, suffixes, inputs)
    with locked(path, path.with_name(path.name + ".lock")):
        check_made(path, made)
        yield f"{HEAD}{json.dumps(made)}\n"


@contextmanager
def appending(path: Path, head: str = "") -> Iterator[GameFile]:
    """Open a file of games at its end, without an incomplete last game or block. SourceError if it is another file."""
    with naming_errors(path):
        file = GameFile(path, head)
        try:
            yield file
        finally:
            file.close()
