"""Games of a server as CSA records, written while they are played."""

import re
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from usi_engine.csa.background import BackgroundWriter
from usi_engine.csa.game import ServerGame
from usi_engine.files import make_folder
from usi_engine.language import _, text_of
from usi_engine.records import csa, ends, formats
from usi_engine.records.csa import words_of
from usi_engine.records.formats import decoded, local_time, record_of_moves, write_text
from usi_engine.rules import End
from usi_engine.usi.output import printable

ENDED = "終了日時"
SUFFIX = ".csa"
LONGEST_STEM = 200
# Names of devices on Windows, also with a suffix.
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)


def make_header(game: ServerGame, *, ended: bool) -> dict[str, str]:
    """Return the players' names, the game's id and times, with the keys of KIF."""
    names, controls = game.summary.names, game.summary.controls
    header = {"先手": names[0], "後手": names[1], "棋戦": game.summary.game_id}
    header = {key: printable(text) for key, text in header.items()}
    header["開始日時"] = local_time(game.begun)
    if ended:
        header[ENDED] = local_time(time.time())
    if controls[0] == controls[1]:
        return header | {"持ち時間": words_of(controls[0])}
    return header | {"先手持ち時間": words_of(controls[0]), "後手持ち時間": words_of(controls[1])}


def make_stem(game_id: str) -> str:
    """Return the id as the name of a file without its suffix."""
    name = re.sub(r"[^\w.+-]", "_", game_id, flags=re.ASCII).lstrip(".")[:LONGEST_STEM] or "game"
    return f"_{name}" if DEVICE.fullmatch(name) else name


class RunningRecord:
    """The record of a game that is played. A thread of its own writes the file anew after each move, so the game of a
    program that is killed is not lost: its record ends with %CHUDAN.

    The file has the name of the game's id, with a number if another game has that name. A resumed game replaces its
    first part. `note` gets the first error while the game runs.
    """

    def __init__(self, game: ServerGame, folder: Path, note: Callable[[str], None]) -> None:
        self._game, self._folder, self._note = game, folder, note
        self._path: Path | None = None
        self._moves = -1  # in the last record that was asked for
        self._reported = False
        self._writer = BackgroundWriter(lambda _line: self._try_to_write(), self._report)
        self.follow()

    def follow(self) -> None:
        """Write the record if moves were made since the last call."""
        if len(self._game.played) > self._moves:
            self._moves = len(self._game.played)
            self._writer.put("")

    def finish(self) -> Path:
        """Write the whole record and return its path. OSError, RecordError."""
        self._writer.close()
        if self._writer.hangs:
            self._path = None  # its last write may still come
        try:
            return self._write(ended=True)
        except PermissionError:  # Windows replaces no file that another program has open
            if self._path is None:
                raise
            self._path = None
        return self._write(ended=True)

    def _try_to_write(self) -> None:
        try:
            self._write(ended=False)
        except Exception as error:  # the next write may succeed
            self._report(error)

    def _report(self, error: Exception) -> None:
        if not self._reported:
            text = _("{game} is not saved while it is played: {error}")
            self._note(text.format(game=self._game.summary.game_id, error=text_of(error)))
        self._reported = True

    def _write(self, *, ended: bool) -> Path:
        game = self._game
        header = make_header(game, ended=ended)
        end = ends.end_of(game.end or End("interrupted"), game.game.turn)  # a game that runs, or was cut off, too
        end.milliseconds = game.last_ms
        record = record_of_moves(game.game.start, game.played, end, header)
        text = formats.text_of(record, "csa")
        if self._path:
            write_text(self._path, text)
        else:
            stem = make_stem(game.summary.game_id)
            self._path = write_new(self._folder, stem, text, lambda path: is_first_part(path, game))
        return self._path


def write_new(folder: Path, stem: str, text: str, replaces: Callable[[Path], bool] = lambda path: False) -> Path:
    """Write a record under the first free name, or the first that it replaces, and return its path. OSError."""
    make_folder(folder)
    for number in count(1):
        path = folder / f"{numbered(stem, number)}{SUFFIX}"
        try:
            path.open("x").close()  # reserves the name: another client may write to the same folder
        except FileExistsError:
            if not replaces(path):
                continue
            write_text(path, text)
            return path
        try:
            write_text(path, text)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
    raise AssertionError


def numbered(stem: str, number: int) -> str:
    """Return the name, with the number from 2 on."""
    return stem if number == 1 else f"{stem}-{number}"


def is_first_part(path: Path, game: ServerGame) -> bool:
    """Return True if a record holds what was played of a resumed game before its connection was cut.

    A record without the time of its end may be that of another client, which still plays.
    """
    offered = [move.move for move in game.played[: len(game.summary.moves)]]
    if not offered:
        return False
    try:
        record = csa.read(decoded(path.read_bytes()))
    except (OSError, ValueError):
        return False
    moves = [node.move for node in record.main_line]
    players = tuple(printable(name).strip() for name in game.summary.names)
    same = record.players == players and record.start.split()[:3] == game.game.start.split()[:3]
    broken_off = record.end is not None and record.end.name == ends.INTERRUPTED and ENDED in record.header
    return bool(same and broken_off and moves and moves == offered[: len(moves)])
