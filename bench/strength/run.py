"""Long runs of games: options, openings, rows of a folder that only the same conditions continue, and workers."""

import argparse
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from random import Random
from typing import Any

import core_ext
import usi_engine
from bench import OPENINGS
from bench.strength.elo import decided
from usi_engine.evaluation.network_file import network_path
from usi_engine.files import KeptRows, OtherRowsError, digest_of, make_folder
from usi_engine.learn.player import read_openings
from usi_engine.learn.workers import Work
from usi_engine.progress import Progress
from usi_engine.usi.arguments import whole

PROCESSES = max((os.cpu_count() or 2) // 2, 1)
REPORT_SECONDS = 60.0
# Arguments that may change when a run is resumed.
FREE = frozenset({"games", "elo0", "elo1", "processes", "scheduler", "keep"})

Row = dict[str, Any]


def add_run_options(parser: argparse.ArgumentParser, processes: int = PROCESSES, keep: str | None = None) -> None:
    """Add the options of every run."""
    add = parser.add_argument
    add("--openings", type=Path, default=OPENINGS, help="lines `startpos moves ...` or sfens")
    add("--seed", type=int, default=1, help="seed of the openings' order")
    add("--processes", "--concurrency", type=whole(1), default=processes, help="games at the same time")
    add("--scheduler", default="", help="HOST:PORT of a Dask scheduler, whose workers play instead of processes")
    add("--keep", required=keep is None, default=keep, help="folder of the record; a run there is resumed")


def add_test_options(parser: argparse.ArgumentParser, games: int) -> None:
    """Add the number of games and the sequential test that may end a run earlier."""
    parser.add_argument("--games", type=whole(1), default=games)
    parser.add_argument("--elo0", type=float, default=0.0)
    parser.add_argument("--elo1", type=float, help="end the run when a sequential test accepts --elo0 or --elo1")


def shuffled_openings(arguments: argparse.Namespace, games: int = 0) -> list[str]:
    """Return the openings in random order. ValueError if there are too few: so many games would repeat."""
    openings = read_openings(arguments.openings)
    if games > 2 * len(openings):
        raise ValueError(f"{len(openings)} openings make {2 * len(openings)} games, not {games}")
    return Random(arguments.seed).sample(openings, len(openings))


# ---- the rows of a folder ----


def program_digest() -> str:
    """Hash the core, the code of usi_engine and its data, because another build may play differently."""
    digest = hashlib.sha256()
    for package in (core_ext, usi_engine):
        folder = Path(package.__path__[0])
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
    """Return the rows of this file in the folder --keep. SystemExit, with their names, if other conditions differ.

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
        other = [name for name in sorted({*kept, *conditions}) if kept.get(name) != conditions.get(name)]
        raise SystemExit(
            f"{folder} holds a run under other conditions ({', '.join(other)}): name another folder"
        ) from None


# ---- playing ----


def play_missing(
    kept: KeptRows,
    work: Work[Any, Any, Row],
    tasks: Iterable[Any],
    arguments: argparse.Namespace,
    *,
    total: int,
    standing: Callable[[list[Row]], str] = lambda rows: "",
    scores: Callable[[list[Row]], list[float]] = lambda rows: [],
) -> Iterator[Row]:
    """Do the tasks in several processes; keep and yield each row as it comes, until the sequential test decides.

    `standing` is shown beside the count of rows, `scores` are those of the pairs of games.
    """

    def is_decided() -> bool:
        return decided(scores(kept.rows), getattr(arguments, "elo0", 0.0), getattr(arguments, "elo1", None))

    if is_decided():
        return
    with Progress("rows", total, len(kept.rows), REPORT_SECONDS) as progress:
        for row in work.results(tasks, arguments.processes, arguments.scheduler, in_order=False):
            kept.add(row)
            progress.add(note=standing(kept.rows))
            yield row
            if is_decided():
                return
