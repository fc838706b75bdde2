"""`usi_engine convert GAME...`: converts game records from one format to another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from usi_engine.core import Core, CoreError, load_core
from usi_engine.records.faults import RecordError
from usi_engine.records.files import Output, refuse_replacing, write_text
from usi_engine.records.formats import FORMATS, SUFFIXES
from usi_engine.records.games import Game, read_games
from usi_engine.records.writer import text_of


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = argparse.ArgumentParser("usi_engine convert", description="Convert game records. Variations are left out.")
    made.add_argument("games", nargs="+", type=Path, help="KIF, KI2, CSA, JKF or USI files, in UTF-8 or Shift-JIS")
    made.add_argument("--out", type=Path, help="the file to write; for several games, the folder (default: print)")
    made.add_argument("--to", choices=FORMATS, help="the format (default: by the suffix of --out)")
    made.add_argument("--encoding", choices=("utf-8", "shift_jis"), default="",
                      help="default: Shift-JIS for .kif and .ki2 if it has all letters, else UTF-8")  # fmt: skip
    return made


def target_format(args: argparse.Namespace) -> str:
    """Return the format to write. RecordError if no option names it."""
    kind: str | None = args.to or SUFFIXES.get(args.out.suffix.lower() if args.out else "")
    if kind is None:
        raise RecordError(f"name the format: --to {'|'.join(FORMATS)}")
    return kind


def run(args: argparse.Namespace, core: Core) -> int:
    """Convert all games; return 1 if a record could not be read, else 0. RecordError, OSError."""
    kind = target_format(args)
    items = [item for path in args.games for item in read_games(path, core.board)]
    games = [item for item in items if isinstance(item, Game)]
    for fault in items:
        if isinstance(fault, RecordError):
            print(fault, file=sys.stderr)
    # USI has one game a line, so all games go into one file.
    if kind == "usi" and games and args.out and not args.out.is_dir():
        refuse_replacing(args.out, args.games)
        write_text(args.out, "".join(text_of(game.record, game.kind, kind) for game in games), args.encoding)
    else:
        convert_each(games, kind, args)
    return 0 if len(games) == len(items) else 1


def convert_each(games: list[Game], kind: str, args: argparse.Namespace) -> None:
    """Write each game to its own file, or print it. RecordError, OSError."""
    output = Output(args.out, f".{kind}", len(games) > 1, args.games) if args.out else None
    for game in games:
        text = text_of(game.record, game.kind, kind)
        if output is None:
            sys.stdout.write(text)
        else:
            write_text(output.path(game.stem), text, args.encoding)


def main(words: list[str]) -> int:
    """Return 0, 1 if a record could not be read, 2 if nothing could be done, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    try:
        return run(args, load_core())
    except KeyboardInterrupt:
        return 130
    except (OSError, RecordError, CoreError) as error:
        print(error, file=sys.stderr)
        return 2
