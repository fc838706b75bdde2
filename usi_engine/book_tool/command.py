"""`usi_engine book build` makes a book from games, from our own search or from both; `book show` shows a position."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from usi_engine import __version__
from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.limits import Limits, add_limits, in_words, limits_of
from usi_engine.book.entry import BookError
from usi_engine.book.yaneuraou import BOM, MARK
from usi_engine.book_tool.grow import Growth, Played, Searcher, from_games, grow, played
from usi_engine.book_tool.journal import Journal
from usi_engine.book_tool.show import table
from usi_engine.book_tool.text import book_text
from usi_engine.book_tool.tree import Tree
from usi_engine.core import Core, CoreError, board_of, load_core, text_of
from usi_engine.evaluation.load import evaluation_file
from usi_engine.evaluation.names import INTERNAL, WeightsError
from usi_engine.records.faults import RecordError
from usi_engine.records.files import write_text
from usi_engine.records.games import Game, read_games
from usi_engine.usi.arguments import whole

DEFAULT_NODES = 100_000
DEFAULT_POSITIONS = 1000
INTERRUPTED = 130  # exit status after Ctrl-C


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser("usi_engine book", description="Make opening books and look into them.")
    commands = made.add_subparsers(dest="command", required=True)
    add_build(commands.add_parser("build", description="""Make a book (YaneuraOu's .db, sorted). From games: the moves
        played, with their counts; their values by a search where --nodes or --seconds is given, which with --positions
        then adds others. Without games: from our own search alone, which expands the start position."""))  # fmt: skip
    add_show(commands.add_parser("show", description="Show the moves of a position and how often each is played."))
    return made


def add_build(made: argparse.ArgumentParser) -> None:
    """The options of `build`."""
    made.add_argument("games", nargs="*", type=Path, help="KIF, KI2, CSA, JKF or USI files, in UTF-8 or Shift-JIS")
    made.add_argument("--out", type=Path, required=True, help="the book to write; FILE.journal keeps what was searched")
    made.add_argument("--plies", type=whole(1), default=16, help="length of the lines in plies (16)")
    made.add_argument("--min-games", type=whole(1), default=2, help="least number of games that played a move (2)")
    made.add_argument("--positions", type=whole(1), help="grow the book by search to so many (1000 without games)")
    made.add_argument(
        "--lines", type=whole(1), default=4, help="moves a search values; more get more nodes or time (4)"
    )
    made.add_argument("--margin", type=whole(1), default=40, help="greatest loss of a move, in centipawns (40)")
    made.add_argument("--start", default="startpos", help="the position that grows: an sfen")
    add_limits(made, DEFAULT_NODES)


def add_show(made: argparse.ArgumentParser) -> None:
    """The options of `show`."""
    made.add_argument("position", nargs="*", default=["startpos"], help="an sfen or startpos, `moves` and moves")
    made.add_argument("--book", default=INTERNAL, help="the file, as the option BookFile")


def build(chosen: argparse.Namespace) -> int:
    """Make the book; 1 where a record was at fault. BookError, OSError and what Records and Analyst raise."""
    check_out(chosen.out, chosen.games)
    core, records = load_core(), Records(chosen.games)
    searches = bool(chosen.nodes or chosen.seconds or not chosen.games)
    found = played(records.games(core), core, chosen.plies, chosen.min_games)
    if chosen.games and not found:
        raise BookError(f"no move was played in {chosen.min_games} games or more")
    searcher = searcher_of(core, chosen) if searches else None
    tree = tree_of(core, chosen, found, searcher)
    text, positions, moves = book_text(tree, chosen.margin if searches else None, note(chosen, searches, records.count))
    write_text(chosen.out, text)
    print(f"wrote {chosen.out}: {positions} positions, {moves} moves")
    return 1 if records.faults else 0


def check_out(out: Path, games: Sequence[Path]) -> None:
    """Refuse, before any work, to replace a file that is read or that is no book. BookError, OSError."""
    if not out.exists():
        return
    if not out.is_file():
        raise BookError(f"--out {out}: not a regular file")
    if any(path.exists() and out.samefile(path) for path in games):
        raise BookError(f"--out {out}: is also read")
    with out.open("rb") as file:
        begun = file.read(len(BOM + MARK))
    if begun and not begun.removeprefix(BOM).startswith(MARK):
        raise BookError(f"--out {out}: holds something else than a book; it is not replaced")


def show(chosen: argparse.Namespace) -> int:
    """Print the moves of a position; 1 where the book does not hold it. BookError; ValueError for a bad position."""
    rows = table(chosen.book, board_of(load_core(), " ".join(chosen.position)))
    print("\n".join(rows) if rows else "the book does not hold this position")
    return 0 if rows else 1


class Records:
    """The games of files, counted. Each fault is told on standard error."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths, self.count, self.faults = paths, 0, 0

    def games(self, core: Core) -> Iterator[Game]:
        """One after the other."""
        for path in self._paths:
            for item in read_games(path, core.board):
                if isinstance(item, Game):
                    self.count += 1
                    yield item
                else:
                    self.faults += 1
                    print(item, file=sys.stderr)


def tree_of(core: Core, chosen: argparse.Namespace, found: Sequence[Played], searcher: Searcher | None) -> Tree:
    """The positions of the book: those of the games, and then those that the search adds."""
    tree = from_games(found, core, searcher)
    positions = chosen.positions or (0 if chosen.games else DEFAULT_POSITIONS)
    if searcher and positions:
        grow(tree, Growth(core.board(chosen.start).sfen(), positions, chosen.plies, chosen.margin), searcher)
    return tree


def searcher_of(core: Core, chosen: argparse.Namespace) -> Searcher:
    """The search with its journal beside the book. BookError, OSError, WeightsError, MemoryError."""
    limits = limits_of(chosen)
    journal = Journal(Path(f"{chosen.out}.journal"), settings(limits, chosen.lines))
    return Searcher(core, Analyst(limits), journal, chosen.lines)


def settings(limits: Limits, lines: int) -> dict[str, str | int | float]:
    """What the results depend on. WeightsError, OSError."""
    file = evaluation_file(limits.evaluation)
    weights = hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file and file.is_file() else limits.evaluation
    limit = {"nodes": limits.nodes, "seconds": limits.seconds, "threads": limits.threads, "hash": limits.megabytes}
    return {"version": __version__, "evaluation": weights, "lines": lines, **limit}


def note(chosen: argparse.Namespace, searches: bool, games: int) -> str:
    """What the book was made of, for its head."""
    source = [f"{games} games, moves of at least {chosen.min_games}"] if chosen.games else []
    source += [f"{in_words(limits_of(chosen))} a position"] if searches else []
    return f"Komadori {__version__}: {'; '.join(source)}"


def main(words: list[str]) -> int:
    """Returns 0, 1 where a record could not be read, 2 where nothing could be done, 130 after Ctrl-C."""
    chosen = parser().parse_args(words)
    try:
        return build(chosen) if chosen.command == "build" else show(chosen)
    except KeyboardInterrupt:
        print("stopped; what was searched is kept: the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, BookError, RecordError, CoreError, WeightsError, MemoryError) as error:
        print(text_of(error), file=sys.stderr)
        return 2
