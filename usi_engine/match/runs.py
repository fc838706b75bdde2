"""Long runs of games: openings, rows of a folder that only the same conditions continue, and workers."""

import argparse
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from random import Random
from typing import Any

from usi_engine.api.usi_process import position_text
from usi_engine.core import FOLDER
from usi_engine.evaluation.network_file import network_path
from usi_engine.files import KeptRows, OtherRowsError, digest_of, locked, make_folder
from usi_engine.language import _
from usi_engine.progress import Progress
from usi_engine.records.games import opening_boards
from usi_engine.usi.arguments import adder, whole
from usi_engine.workers import Work

OPENINGS = FOLDER / "usi_engine" / "data" / "openings.sfen"
REPORT_SECONDS = 60.0
# Arguments that may change when a run is resumed.
FREE = frozenset({"games", "concurrency", "scheduler", "keep", "lang"})

Row = dict[str, Any]


class MatchError(ValueError):
    """A run that cannot begin or go on; the text is one line for the user."""


def add_run_options(parser: argparse._ActionsContainer, concurrency: int) -> None:
    """Add the options of every run but its folder."""
    add = adder(parser)
    openings = _("sfens or `startpos moves ...`, one a line, or game records (default: 400 of 24 moves)")
    add("--openings FILE", openings, Path, OPENINGS)
    add("--seed SEED", _("seed of the order of the openings (1)"), whole(), 1)
    add("--concurrency N", _("games at the same time ({count})").format(count=concurrency), whole(1), concurrency)
    add("--scheduler ADDRESS", _("a Dask scheduler, whose workers play instead (HOST:PORT)"), default="")


def shuffled_openings(arguments: argparse.Namespace, games: int = 0) -> list[str]:
    """Return the openings as arguments of `position`, in random order.

    MatchError if they cannot be read, or are so few that the games would repeat.
    """
    try:
        openings = [position_text(board) for board in opening_boards(arguments.openings)]
    except ValueError as error:
        raise MatchError(str(error)) from None
    if games > 2 * len(openings):
        text = _("{count} openings make {most} games, not {games}; --openings names others")
        raise MatchError(text.format(count=len(openings), most=2 * len(openings), games=games))
    return Random(arguments.seed).sample(openings, len(openings))


def program_digest() -> str:
    """Hash the core, the code of usi_engine and its data, because another build may play differently."""
    digest = hashlib.sha256()
    for folder in (FOLDER / "core_ext", FOLDER / "usi_engine"):
        for file in sorted(folder.rglob("*")):
            is_code = file.name.endswith((".py", *EXTENSION_SUFFIXES)) and "_probe" not in file.name
            if is_code or (file.parent == folder / "data" and file.is_file()):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def file_digest(path: Path) -> str:
    """Return the hash of a file, or of the nn.bin of a folder; empty if there is none."""
    file = network_path(path)
    return digest_of(file) if file.is_file() else ""


def condition(value: object) -> str:
    """Return an argument as text; if it names a file or a network's folder, with a hash of the file."""
    digest = file_digest(Path(value).expanduser()) if value and isinstance(value, str | Path) else ""
    return f"{value} {digest}" if digest else str(value)


def kept_rows(arguments: argparse.Namespace, name: str, free: Collection[str] = ()) -> KeptRows:
    """Return the rows of this file in the folder --keep. MatchError, with their names, if other conditions differ.

    The conditions are the arguments, except `free` ones, and the program; they are the first row.
    """
    named = sorted(vars(arguments).items())
    conditions = {name: condition(value) for name, value in named if name not in {*FREE, *free}}
    conditions["program"] = program_digest()
    folder = Path(arguments.keep)
    make_folder(folder)
    try:
        return KeptRows(folder / name, conditions)
    except OtherRowsError as error:
        kept = error.conditions or {}
        other = ", ".join(name for name in sorted({*kept, *conditions}) if kept.get(name) != conditions.get(name))
        text = _("{folder} holds a run under other conditions ({names}); name another folder: --keep FOLDER")
        raise MatchError(text.format(folder=folder, names=other)) from None


def play_missing(
    kept: KeptRows,
    work: Work[Any, Any, Row],
    tasks: Iterable[Any],
    arguments: argparse.Namespace,
    *,
    total: int,
    note: Callable[[list[Row]], str] = lambda rows: "",
    is_decided: Callable[[list[Row]], bool] = lambda rows: False,
) -> Iterator[Row]:
    """Do the tasks in several processes; keep and yield each row as it comes, until the run is decided.

    `note` is shown beside the count of rows. OSError, also if another run plays them.
    """
    if is_decided(kept.rows):
        return
    folder = kept.path.parent
    with locked(folder, folder / "lock"), Progress(_("games"), total, len(kept.rows), REPORT_SECONDS) as progress:
        for row in work.results(tasks, arguments.concurrency, arguments.scheduler, in_order=False):
            kept.add(row)
            progress.add(note=note(kept.rows))
            yield row
            if is_decided(kept.rows):
                return
