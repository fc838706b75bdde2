"""`usi_engine convert GAME...`: game records from one format to another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from usi_engine.core import Core, CoreError, load_core
from usi_engine.records.files import Output, refuse_replacing, write_text
from usi_engine.records.formats import FORMATS, SUFFIXES, RecordError, rsshogi, text_of
from usi_engine.records.games import Game, read_games


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser("usi_engine convert", description="Convert game records. Variations are left out.")
    made.add_argument("games", nargs="+", type=Path, help="KIF, KI2, CSA, JKF or USI files, in UTF-8 or Shift-JIS")
    made.add_argument("--out", type=Path, help="the file to write; of several games: the folder (default: print them)")
    made.add_argument("--to", choices=FORMATS, help="the format, where the suffix of --out does not say it")
    made.add_argument("--encoding", choices=("utf-8", "shift_jis"), default="",
                      help="default: Shift-JIS for .kif and .ki2 where it has all letters, else UTF-8")  # fmt: skip
    return made


def target(chosen: argparse.Namespace) -> str:
    """The format to write. RecordError where neither option names it."""
    suffix = chosen.out.suffix.lower() if chosen.out else ""
    kind: str | None = chosen.to or SUFFIXES.get(suffix)
    if kind is None:
        raise RecordError(f"name the format: --to {'|'.join(FORMATS)}")
    return kind


def run(chosen: argparse.Namespace, core: Core) -> int:
    """Convert all games; 1 where a record was at fault."""
    rsshogi("record")
    kind = target(chosen)
    found = [item for path in chosen.games for item in read_games(path, core.board)]
    games = [item for item in found if isinstance(item, Game)]
    for fault in found:
        if isinstance(fault, RecordError):
            print(fault, file=sys.stderr)
    # USI holds a game a line, so that all games fit into one file.
    if kind == "usi" and games and chosen.out and not chosen.out.is_dir():
        refuse_replacing(chosen.out, chosen.games)
        write_text(chosen.out, "".join(text_of(game.record, game.kind, kind) for game in games), chosen.encoding)
    else:
        convert_each(games, kind, chosen)
    return 0 if len(games) == len(found) else 1


def convert_each(games: list[Game], kind: str, chosen: argparse.Namespace) -> None:
    """Write each game to a file of its own, or print it. RecordError, OSError."""
    output = Output(chosen.out, f".{kind}", len(games) > 1, chosen.games) if chosen.out else None
    for game in games:
        text = text_of(game.record, game.kind, kind)
        if output is None:
            sys.stdout.write(text)
        else:
            write_text(output.path(game.stem), text, chosen.encoding)


def main(words: list[str]) -> int:
    """Returns 0, 1 where a record could not be read, 2 where nothing could be done, 130 after Ctrl-C."""
    chosen = parser().parse_args(words)
    try:
        return run(chosen, load_core())
    except KeyboardInterrupt:
        return 130
    except (OSError, RecordError, CoreError) as error:
        print(error, file=sys.stderr)
        return 2
