"""`usi_engine book build` makes a book from games, from our own search or from both; `book show` shows a position."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from core_ext.board import Board
from usi_engine import __version__
from usi_engine.analysis.analyst import Analyst, Limits, add_limits, read_limits
from usi_engine.book.book_player import BookPlayer, allowed, open_book, rules_of
from usi_engine.book.entry import BookError, BookMove
from usi_engine.book.yaneuraou import BOM, MARK
from usi_engine.book_tool.tree import (
    Journal,
    PlayedMoves,
    Searcher,
    Tree,
    book_text,
    count_moves,
    grow,
    tree_from_games,
)
from usi_engine.columns import aligned
from usi_engine.core import board_of, exit_status, typed_board
from usi_engine.evaluation.load import evaluation_file
from usi_engine.evaluation.names import INTERNAL, WeightsError
from usi_engine.files import digest_of
from usi_engine.language import _, chosen
from usi_engine.records.formats import write_text
from usi_engine.records.games import Game, read_games
from usi_engine.records.notation import name_moves
from usi_engine.usi.arguments import Parser, adder, whole
from usi_engine.usi.options import Options
from usi_engine.usi.output import printable, show

DEFAULT_NODES = 100_000
DEFAULT_POSITIONS = 1000
# Widths of the columns; negative: the text is on the left.
WIDTHS = (-6, -6, 6, 6, 7, 7)
JAPANESE_WIDTHS = (-14, -14, 6, 6, 7, 7)


def parser() -> argparse.ArgumentParser:
    top = Parser("usi_engine book", description=_("Make opening books and look into them."))
    commands = top.add_subparsers(dest="command", required=True)
    add_build(commands.add_parser("build", description=_(
        "Make a book (YaneuraOu's .db, sorted). From games: the moves played, with their counts. If --nodes or "
        "--seconds is given, a search values them, and with --positions adds other positions. Without games: from our "
        "own search alone, starting at the start position.")))  # fmt: skip
    show = commands.add_parser("show", description=_("Show the moves of a position and how often each is played."))
    show.add_argument("position", nargs="*", default=["startpos"], help=_("an sfen or startpos, `moves` and moves"))
    show.add_argument("--book", default=INTERNAL, help=_("the file, as the option BookFile"))
    return top


def add_build(build: argparse.ArgumentParser) -> None:
    build.add_argument(
        "games", nargs="*", type=Path, help=_("KIF, KI2, CSA, JKF or USI files, in UTF-8, Shift-JIS or EUC-JP")
    )
    add = adder(build)
    add("--out OUT", _("the book; FILE.journal keeps the results of searches"), Path, required=True)
    add("--plies PLIES", _("length of the lines in plies (16)"), whole(1), 16)
    add("--min-games MIN_GAMES", _("use moves played in this many games or more (2)"), whole(1), 2)
    add("--positions POSITIONS", _("grow the book by search to this size (1000 without games)"), whole(1))
    add("--lines LINES", _("moves that a search values; more moves get more nodes or time (4)"), whole(1), 4)
    add("--margin MARGIN", _("greatest loss of a move, in centipawns (40)"), whole(1), 40)
    add("--start START", _("the position to grow from: an sfen"), default="startpos")
    add_limits(build, DEFAULT_NODES)


def build(args: argparse.Namespace) -> int:
    """Make the book; return 1 if a record had a fault. BookError, OSError and the errors of Analyst."""
    check_out(args.out, args.games)
    read = Counter[str]()
    searches = bool(args.nodes or args.seconds or not args.games)
    counted = count_moves(iterate_games(args.games, read), args.plies, args.min_games)
    if args.games and not counted:
        raise BookError(_("no move was played in {games} games or more").format(games=args.min_games))
    searcher = new_searcher(args) if searches else None
    tree = make_tree(args, counted, searcher)
    text, positions, moves = book_text(tree, args.margin if searches else None, note(args, searches, read["games"]))
    if not positions:
        raise BookError(_("no position has moves for a book; {file} is not written").format(file=args.out))
    write_text(args.out, text)
    done = _("wrote {file}: {positions} positions, {moves} moves")
    show(done.format(file=args.out, positions=positions, moves=moves))
    return 1 if read["faults"] else 0


def check_out(out: Path, games: Sequence[Path]) -> None:
    """Raise BookError, before any work, if the file to replace is an input or not a book. OSError."""
    if not out.exists():
        return
    if not out.is_file():
        raise BookError(_("--out {file}: not a regular file").format(file=out))
    if any(path.exists() and out.samefile(path) for path in games):
        raise BookError(_("--out {file}: is also an input").format(file=out))
    with out.open("rb") as file:
        first = file.read(len(BOM + MARK))
    if first and not first.removeprefix(BOM).startswith(MARK):
        raise BookError(_("--out {file}: is not a book; it is not replaced").format(file=out))


def show_moves(args: argparse.Namespace) -> int:
    """Print the moves of a position; return 1 if the book lacks it. BookError; ValueError for a bad position."""
    rows = table(args.book, typed_board(" ".join(args.position)))
    show(*(rows or [_("this position is not in the book")]))
    return 0 if rows else 1


def table(name: str, board: Board) -> list[str]:
    """Return a row for each move, with its share under the default options; no rows without moves. BookError."""
    player = BookPlayer(open_book(name), lambda fault: print(printable(fault), file=sys.stderr))
    rules = rules_of(Options(), board.turn == 0)
    moves = player.moves(board, rules.flipped)
    weights = {move: max(move.count, 1) for move in allowed(moves, rules)}
    total = sum(weights.values())
    shares = [f"{100 * weights.get(move, 0) / max(total, 1):.0f} %" for move in moves]
    rows = [
        (*shown(board, move), f"{move.value:+d}", str(move.depth), str(move.count), share)
        for move, share in zip(moves, shares, strict=True)
    ]
    titles = (_("move"), _("reply"), _("value"), _("depth"), _("count"), _("played"))
    widths = JAPANESE_WIDTHS if chosen() == "ja" else WIDTHS
    return [aligned(row, widths, " ") for row in (titles, *rows)] if rows else []


def shown(board: Board, move: BookMove) -> tuple[str, str]:
    """Return the move and the reply: in USI, or as ▲７六歩 in Japanese."""
    if chosen() != "ja":
        return move.move, move.reply or "-"
    named = name_moves(board, [text for text in (move.move, move.reply) if text])
    first, second = [*(one.text for one in named), "-", "-"][:2]
    return first, second


def iterate_games(paths: Sequence[Path], counts: Counter[str]) -> Iterator[Game]:
    """Yield the games of files; print faults on standard error. `counts` gets the numbers of `games` and `faults`."""
    for path in paths:
        for item in read_games(path):
            if isinstance(item, Game):
                counts["games"] += 1
                yield item
            else:
                counts["faults"] += 1
                show(str(item), file=sys.stderr)


def make_tree(args: argparse.Namespace, counted: Sequence[PlayedMoves], searcher: Searcher | None) -> Tree:
    """Return the positions of the games and those that the search adds."""
    tree = tree_from_games(counted, searcher)
    positions = args.positions or (0 if args.games else DEFAULT_POSITIONS)
    if searcher and positions:
        start = board_of(args.start).sfen()
        grow(tree, searcher, start=start, positions=positions, plies=args.plies, margin=args.margin)
    return tree


def new_searcher(args: argparse.Namespace) -> Searcher:
    """Return a searcher with its journal beside the book. BookError, OSError, WeightsError, ValueError, MemoryError."""
    limits = read_limits(args)
    board_of(args.start)  # a mistyped start or evaluation leaves no journal
    analyst = Analyst(limits)
    return Searcher(analyst, Journal(Path(f"{args.out}.journal"), settings(limits, args.lines)), args.lines)


def settings(limits: Limits, lines: int) -> dict[str, str | int | float]:
    """Return the settings that the results depend on. WeightsError, OSError."""
    file = evaluation_file(limits.evaluation)
    weights = digest_of(file) if file and file.is_file() else limits.evaluation
    limit = {"nodes": limits.limit.nodes or 0, "seconds": limits.limit.time or 0.0}
    limit |= {"threads": limits.threads, "hash": limits.megabytes}
    return {"version": __version__, "evaluation": weights, "lines": lines, **limit}


def note(args: argparse.Namespace, searches: bool, games: int) -> str:
    """Return the note at the head of the book: what it was made from."""
    source = [f"{games} games, moves of at least {args.min_games}"] if args.games else []
    limit = f"{args.seconds:g} s" if args.seconds else f"{read_limits(args).limit.nodes} nodes"
    source += [f"{limit} a position"] if searches else []
    return f"Komadori {__version__}: {'; '.join(source)}"


def main(words: list[str]) -> int:
    """Run the command; return 0, 1 if a record could not be read, 2 on an error, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    command = build if args.command == "build" else show_moves
    stopped = _("stopped; finished searches are kept: the same command continues from here")
    return exit_status(lambda: command(args), ValueError, BookError, WeightsError, stopped=stopped)
