"""`usi_engine analyze GAME...`: each move's value, best line and loss; as text, as KIF for GUIs, as an HTML page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.judgement import Evaluated
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.limits import add_limits, in_words, limits_of
from usi_engine.analysis.page import page_text
from usi_engine.analysis.report import AnalysedGame, analysed, lines_of
from usi_engine.analysis.store import Store, store_path
from usi_engine.core import Core, CoreError, load_core, text_of
from usi_engine.evaluation.cache import cache_folder
from usi_engine.evaluation.names import WeightsError
from usi_engine.progress import progress_bar
from usi_engine.records.faults import RecordError
from usi_engine.records.files import Output, write_text
from usi_engine.records.games import Game, read_games
from usi_engine.usi.arguments import Parser

DEFAULT_NODES = 300_000
INTERRUPTED = 130  # exit status after Ctrl-C


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine analyze", description="Analyse every move of game records.")
    made.add_argument("games", nargs="+", type=Path, help="KIF, KI2, CSA, JKF or USI files, in UTF-8 or Shift-JIS")
    made.add_argument("--kif", type=Path, help="write KIF with values and lines; for several games, into this folder")
    made.add_argument("--variations", action="store_true", help="analyse variations too; text and KIF show them")
    made.add_argument("--html", type=Path, help="write an HTML page; for several games, into this folder")
    add_limits(made, DEFAULT_NODES)
    made.add_argument("--again", action="store_true", help="search again instead of using kept results")
    return made


def all_games(paths: list[Path]) -> Iterator[Game | RecordError]:
    """Yield the games of all files, and the faults."""
    for path in paths:
        yield from read_games(path)


def search(game: Game, core: Core, analyst: Analyst, store: Store, known: Sequence[Evaluated] = ()) -> list[Evaluated]:
    """Evaluate every position of a game after the `known` ones, or take the result from the store."""
    board, found = core.board(game.start), list[Evaluated]()
    with progress_bar(len(game.moves) + 1, game.path.name) as step:
        for ply, move in enumerate([*game.moves, ""]):
            result = known[ply] if ply < len(known) else store.get(ply)
            if result is None:
                result = analyst.evaluate(board)
                store.put(ply, result)
            found.append(result)
            step()
            if move:
                board.push(move)
    return found


def analyse(game: Game, core: Core, analyst: Analyst, args: argparse.Namespace) -> AnalysedGame:
    """Evaluate and judge a game, with its variations if they are asked for."""

    def evaluated(line: Game, known: Sequence[Evaluated] = ()) -> list[Evaluated]:
        store = Store(store_path(line, limits_of(args)), anew=args.again)
        return search(line, core, analyst, store, known)

    result = analysed(game, evaluated(game))
    values = dict(zip(result.nodes, result.evaluated, strict=True))
    for first in game.record.root.nodes() if args.variations else ():
        if first.parent is None or first is first.parent.next():
            continue
        nodes = [*first.path(), *first.mainline()]
        before = len(first.path()) - 2
        line = replace(game, moves=tuple(node.move for node in nodes[1:]))
        found = evaluated(line, [values[node] for node in nodes[: before + 1]])
        values |= zip(nodes, found, strict=True)
        result.variations.append(analysed(line, found, nodes, before))
    return result


def write(result: AnalysedGame, args: argparse.Namespace, outputs: list[Output]) -> None:
    """Print the text and write the files. RecordError names the game and what could not be written."""
    print("\n".join(lines_of(result)), end="\n\n", flush=True)
    faults = list[str]()
    for output in outputs:
        try:
            path = output.path(result.game.stem)
            text = kif_text(result) if output.suffix == ".kif" else page_text(result, in_words(limits_of(args)))
            write_text(path, text)
            print(f"wrote {path}", flush=True)
        except (OSError, RecordError) as error:
            faults.append(f"{result.game.name}: {error}")
    if faults:
        raise RecordError("\n".join(faults))


def run(args: argparse.Namespace) -> int:
    """Analyse all games; return 1 if a file was at fault, else 0."""
    core, limits = load_core(), limits_of(args)
    games = list(all_games(args.games))
    several = sum(isinstance(game, Game) for game in games) > 1
    wanted = [(args.kif, ".kif"), (args.html, ".html")]
    outputs = [Output(path, suffix, several, args.games) for path, suffix in wanted if path]
    analyst, faults = None, 0
    for game in games:
        try:
            if isinstance(game, RecordError):
                raise game
            analyst = analyst or Analyst(limits)
            write(analyse(game, core, analyst, args), args, outputs)
        except RecordError as error:
            print(error, file=sys.stderr)
            faults += 1
    return 1 if faults else 0


def main(words: list[str]) -> int:
    """Return 0, 1 if a record could not be read, 2 if nothing could be done, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    try:
        return run(args)
    except KeyboardInterrupt:
        goes_on = "" if cache_folder() is None else "; without --again the same command goes on from here"
        print(f"stopped{goes_on}", file=sys.stderr)
        return INTERRUPTED
    except (OSError, RecordError, CoreError, WeightsError, MemoryError) as error:
        print(text_of(error), file=sys.stderr)
        return 2
