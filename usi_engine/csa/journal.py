"""The journal of a running game. If the client is killed, the next one writes the journal as a record."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from usi_engine.csa.background import BackgroundWriter
from usi_engine.csa.game import ServerGame
from usi_engine.csa.record import SUFFIX, end_of_game, header_of, numbered, stem_of, write_new
from usi_engine.language import _
from usi_engine.records import csa
from usi_engine.records.faults import FaultyText
from usi_engine.records.tree import End, Record
from usi_engine.records.writer import INTERRUPTED, text_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PART = ".part"
LONGEST = 1 << 24  # bytes


class Journal:
    """The moves of a game, appended to a file `ID.csa.part` as they are made, by a thread of its own.

    `note` gets the first error; the journal ends there.
    """

    def __init__(self, game: ServerGame, folder: Path, note: Callable[[str], None]) -> None:
        self._game, self._folder, self._note, self._count = game, folder, note, 0
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._lines = BackgroundWriter(self._append, self._fail)
        self._put([])  # the start

    def follow(self) -> None:
        """Append the moves made since the last call."""
        made = len(self._game.statements)
        if made > self._count:
            self._put(self._game.statements[self._count :])
        self._count = made

    def end(self) -> None:
        """Append the end of the game."""
        self.follow()
        self._put(csa.end_lines(end_of_game(self._game)))

    def close(self, *, remove: bool) -> None:
        """Close the file, and remove it if the record is written or if it is empty. A file that hangs stays."""
        self._lines.close()
        if self._lines.hangs or self._file is None or self._path is None:
            return
        with suppress(OSError):
            if fcntl and remove:  # while it is locked
                self._path.unlink()
        with suppress(OSError):  # a full disk
            self._file.close()
        with suppress(OSError):
            if remove or not self._path.stat().st_size:
                self._path.unlink()

    def _put(self, lines: list[str]) -> None:
        self._lines.put("".join(line + "\n" for line in lines))

    def _append(self, text: str) -> None:
        if self._file is None:
            header = csa.write(Record(self._game.position.start, header=header_of(self._game, ended=False)))
            self._path, self._file = open_new(self._folder, stem_of(self._game.summary.game_id))
            text = header + text
        self._file.write(text.encode("utf-8"))
        self._file.flush()

    def _fail(self, error: Exception) -> None:
        text = _("the journal of {game} ends here: {error}")
        self._note(text.format(game=self._game.summary.game_id, error=error))


def open_new(folder: Path, stem: str) -> tuple[Path, BinaryIO]:
    """Create a journal under a free name and lock it. OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        path = folder / f"{numbered(stem, number)}{SUFFIX}{PART}"
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        lock(file)
        return path, file
    raise AssertionError


def lock(file: BinaryIO) -> bool:
    """Lock a journal until it is closed; return False if a running client has locked it."""
    if fcntl:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


def recover(folder: Path, note: Callable[[str], None]) -> None:
    """Write the journals that no running client has open as records. A game without an end ends with %CHUDAN."""
    for path in sorted(folder.glob(f"*{SUFFIX}{PART}")):
        try:
            record = recover_one(path)
        except (OSError, ValueError) as error:
            note(_("{path} cannot be made a record: {error}").format(path=path, error=error))
        else:
            if record is not None:
                note(_("a game that was broken off: {path}").format(path=record))


def recover_one(path: Path) -> Path | None:
    """Replace a journal by a record and return its path; None if a running client has it open. OSError, ValueError."""
    if path.is_symlink() or not path.is_file() or is_open_on_windows(path):
        return None
    with path.open("r+b") as file:  # a lock on a network's file system needs write access
        if not lock(file):
            return None
        text = file.read(LONGEST).decode("utf-8", "replace")
        if not text:  # just begun
            return None
        record = readable_part(text)
        last = record.root.last()
        last.end = last.end or End(INTERRUPTED)
        written = write_new(path.parent, path.name.removesuffix(SUFFIX + PART), text_of(record, "csa"))
        if fcntl:  # while it is locked
            path.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    return written


def is_open_on_windows(path: Path) -> bool:
    """Return True if Windows does not rename the file, because another process has it open."""
    if fcntl:
        return False
    try:
        path.replace(path)
    except OSError:
        return True
    return False


def readable_part(text: str) -> Record:
    """Read the whole lines of a journal, or all but the last if that one was damaged. FaultyText."""
    lines = text.split("\n")[:-1]
    try:
        return csa.read("\n".join(lines))
    except FaultyText:
        return csa.read("\n".join(lines[:-1]))
