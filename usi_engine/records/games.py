"""Game records from files: decoded, split into games, read strictly, replayed by our own rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from core_ext.board import Board
from usi_engine import language
from usi_engine.core import board_of
from usi_engine.language import _
from usi_engine.records import formats
from usi_engine.records.ends import CSA_NAMES, End
from usi_engine.records.faults import FaultyText, RecordError
from usi_engine.records.tree import Node, Record
from usi_engine.usi.output import printable
from usi_engine.usi.protocol import STARTPOS

FILES_TOGETHER = 64  # files that a process reads at a time
OPENING_PLIES = 24  # of a record that gives an opening
LONGEST_FAULT = 120  # characters of a message, which may quote a line


@dataclass(kw_only=True)
class Game(Record):
    """A record of a file: game `number` of `count` in it."""

    path: Path
    number: int = 1
    count: int = 1
    kind: str = ""

    @classmethod
    def from_moves(
        cls, moves: Iterable[str], start: str = STARTPOS, headers: Mapping[str, str] | None = None, end: str = ""
    ) -> Game:
        """Return the game of these moves, with the header's keys of KIF and CSA's name of its end. ValueError."""
        if end and end not in CSA_NAMES:
            raise ValueError(f"not an end: '{end}'; one of {', '.join(sorted(CSA_NAMES))}")
        made = [Node(move) for move in Board.from_moves(moves, start).moves()]
        record = formats.record_of_moves(Board(start).sfen(), made, End(end) if end else None, headers or {})
        return cls(**vars(record), path=Path("game"), kind="usi")

    def to(self, kind: str) -> str:
        """Return the game as text in `kif`, `ki2`, `csa`, `jkf` or `usi`, without what the format cannot hold.

        RecordError for a pass in a format that has none; ValueError for another format.
        """
        if kind not in formats.FORMATS:
            raise ValueError(f"not a format: '{kind}'; one of {', '.join(formats.FORMATS)}")
        return formats.text_of(self, kind)

    @property
    def name(self) -> str:
        """The file, with the number of the game if there are several."""
        if self.count == 1:
            return str(self.path)
        return _("{path}, game {number}").format(path=self.path, number=self.number)

    @property
    def stem(self) -> str:
        """The file's name without suffix, with the number of the game if there are several."""
        return f"{self.path.stem}-{self.number}" if self.count > 1 else self.path.stem

    @property
    def record(self) -> Record:
        """The game as a record."""
        return self

    @property
    def headers(self) -> dict[str, str]:
        """The lines of the record's header, with the keys of KIF: 先手, 後手, 棋戦, 開始日時, ..."""
        return self.header

    @property
    def times(self) -> tuple[int | None, ...]:
        """The milliseconds of each move; None if the record has none."""
        return tuple(node.milliseconds for node in self.main_line)

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment on the start, then that on each move; empty if there is none."""
        return tuple(node.comment or "" for node in (self.root, *self.main_line))

    @property
    def variations(self) -> list[Node]:
        """The moves made from the start, the root of the record's tree; the first begins the main line."""
        return self.root.variations

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty if the record does not name them."""
        black, white = super().players
        return printable(black), printable(white)


def read_games(path: Path, workers: int = 1) -> Iterator[Game | RecordError]:
    """Yield the games of a file, or of all records in a folder and those in it, in the order of their names.

    A fault takes the place of its game, or of all games if the file cannot be read. The files of a folder are read by
    this process, or by several `workers`.
    """
    if not path.is_dir():
        yield from games_of_file(path)
        return
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in formats.SUFFIXES and file.is_file())
    if not files:
        yield RecordError(_("{path}: no game records in this folder (KIF, KI2, CSA, JKF, USI)").format(path=path))
    if workers == 1:
        yield from (game for file in files for game in games_of_file(file))
        return
    from usi_engine.workers import Work  # noqa: PLC0415  (slow to import, and not in the folder without Python)

    parts = (files[at : at + FILES_TOGETHER] for at in range(0, len(files), FILES_TOGETHER))
    work = Work[str, list[Path], list[Game | RecordError]](language.choose, (language.chosen(),), games_of_files)
    for games in work.results(parts, workers):
        yield from games


def games_of_files(_language: str, files: list[Path]) -> list[Game | RecordError]:
    """Return the games and faults of files, the work of a process."""
    return [game for file in files for game in games_of_file(file)]


def games_of_file(path: Path) -> Iterator[Game | RecordError]:
    """Yield the games and faults of a file."""
    try:
        text = formats.text_of_file(path)
    except RecordError as error:
        yield error
        return
    yield from games_of_text(path, text)


def games_of_text(path: Path, text: str) -> Iterator[Game | RecordError]:
    """Yield the games and faults of a file with this text; `path` need not exist."""
    try:
        kind = formats.format_of(path, text)
        parts = formats.parts_of(kind, text)
    except RecordError as error:
        yield RecordError(_("{place}: {reason}").format(place=path, reason=error))
        return
    for number, (line, part) in enumerate(parts, 1):
        try:
            record: Record = formats.FORMATS[kind].read(part)
        except FaultyText as error:
            yield RecordError(_("{path}, {fault}").format(path=path, fault=error.fault.text(line)))
            continue
        game = Game(**vars(record), path=path, number=number, count=len(parts), kind=kind)
        if not game.root.variations and not game.fault and formats.has_moves(part, game.start):
            yield RecordError(_("{name}: no moves read").format(name=game.name))
            continue
        yield game
        if game.fault:
            yield RecordError(_("{path}, {fault}").format(path=path, fault=game.fault.text(line)))


def parse_record(text: str) -> Game:
    """Return the game of a text in KIF, KI2, CSA, JKF or USI. RecordError for a fault, or several games."""
    games = list(games_of_text(Path("text"), text))
    for fault in games:
        if isinstance(fault, RecordError):
            raise fault
    if len(games) > 1:
        raise RecordError(_("the text holds {count} games").format(count=len(games)))
    return cast(Game, games[0])


def load_games(
    path: str | os.PathLike[str], on_fault: Callable[[RecordError], object] | None = None, workers: int = 1
) -> Iterator[Game]:
    """Yield the games of a file in KIF, KI2, CSA, JKF or USI, or of all such files in a folder and those in it.

    A fault is a RecordError, a ValueError of one line, and is raised or passed to `on_fault`. With several `workers`,
    as many processes read the files of a folder, and the games come in the same order; a program that uses them must
    begin with `if __name__ == "__main__":`, as for `multiprocessing`.
    """
    for game in read_games(Path(path), workers):
        if isinstance(game, Game):
            yield game
        elif on_fault:
            on_fault(game)
        else:
            raise game


def opening_boards(path: Path) -> Iterator[Board]:
    """Yield the positions of lines of sfens or `startpos moves ...`, or those after OPENING_PLIES of game records.

    ValueError names the line, or says that there is none.
    """
    if path.is_dir() or formats.SUFFIXES.get(path.suffix.lower(), "usi") != "usi":
        yield from (game.board(min(OPENING_PLIES, len(game.moves))) for game in load_games(path))
        return
    count = 0
    for number, line in enumerate(formats.text_of_file(path).splitlines(), 1):
        try:
            board = board_of(line.strip()) if line.strip() else None
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {str(error)[:LONGEST_FAULT]}") from None
        if board:
            count += 1
            yield board
    if not count:
        raise ValueError(f"{path} holds no position")
