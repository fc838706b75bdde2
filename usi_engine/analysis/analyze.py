"""`usi_engine analyze GAME...`: each move's value, loss and better line; as text, as KIF for GUIs, as HTML pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from usi_engine.analysis.analyst import Analyst, Limits, add_limits, in_words, limits_of, with_effort
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import entry_of, index_text, page_text
from usi_engine.analysis.page_nodes import Data
from usi_engine.analysis.puzzles import Puzzle, puzzles_of
from usi_engine.analysis.report import AnalysedGame, analysed
from usi_engine.analysis.store import Store, store_path
from usi_engine.analysis.terminal import print_game
from usi_engine.core import Core, exit_status, load_core
from usi_engine.evaluation.cache import cache_folder
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import _, text_of
from usi_engine.progress import Progress
from usi_engine.records.faults import RecordError
from usi_engine.records.files import Output, write_text
from usi_engine.records.games import Game, read_games
from usi_engine.search.results import Analysis
from usi_engine.usi.arguments import Parser, spin
from usi_engine.usi.output import show

DEFAULT_NODES = 300_000
KIF, HTML = ".kif", ".html"
INDEX = "index"


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine analyze", description=_("Analyse every move of game records."))
    games = _("KIF, KI2, CSA, JKF or USI files, in UTF-8, Shift-JIS or EUC-JP")
    made.add_argument("games", nargs="+", type=Path, metavar="GAME", help=games)
    kif = _("write KIF with values and lines; for several games, into this folder")
    made.add_argument("--kif", type=Path, metavar="OUT", help=kif)
    html = _("write an HTML page; for several games, into this folder, with an index")
    made.add_argument("--html", type=Path, metavar="OUT", help=html)
    made.add_argument("--puzzles", action="store_true", help=_("look for puzzles in the game, for the HTML page"))
    made.add_argument("--variations", action="store_true", help=_("analyse variations too"))
    made.add_argument("--multipv", type=spin("MultiPV"), default=1, metavar="N", help=_("lines for each position (1)"))
    add_limits(made, DEFAULT_NODES)
    made.add_argument("--again", action="store_true", help=_("search again instead of using kept results"))
    return made


class Searches:
    """The searches of a run, with their store."""

    def __init__(self, core: Core, limits: Limits, *, anew: bool) -> None:
        """Load the engine. WeightsError, MemoryError."""
        self._core, self._limits, self._anew = core, limits, anew
        self._analyst = Analyst(limits)

    def analysed(self, game: Game, *, variations: bool) -> AnalysedGame:
        """Evaluate and judge a game, with its variations if they are asked for."""
        result = analysed(game, self._evaluated(game))
        values = dict(zip(result.nodes, result.evaluated, strict=True))
        for first in game.record.root.nodes() if variations else ():
            if first.parent is None or first is first.parent.next():
                continue
            nodes = [*first.path(), *first.mainline()]
            before = len(first.path()) - 2
            line = replace(game, moves=tuple(node.move for node in nodes[1:]))
            found = self._evaluated(line, [values[node] for node in nodes[: before + 1]])
            values |= zip(nodes, found, strict=True)
            result.variations.append(analysed(line, found, nodes, before))
        return result

    def puzzles(self, result: AnalysedGame) -> list[Puzzle]:
        """Find the puzzles of a game."""
        stores = dict[int, Store]()
        with Progress(_("puzzles"), len(result.evaluated), every=0) as progress:

            def search(ply: int, effort: int) -> Analysis:
                lines = max(self._limits.multipv, 2)
                if effort == 1 and lines == self._limits.multipv:
                    return result.evaluated[ply]
                if effort not in stores:
                    stores[effort] = self._store(result.game, with_effort(self._limits, effort, lines))
                board = result.game.board(ply)
                found = stores[effort].get(ply, board)
                if found is None:
                    found = self._analyst.evaluate(board, lines, effort=effort)
                    stores[effort].put(ply, found)
                progress.add()
                return found

            return puzzles_of(result, search)

    def _store(self, game: Game, limits: Limits) -> Store:
        return Store(store_path(game, limits), anew=self._anew)

    def _evaluated(self, game: Game, known: Sequence[Analysis] = ()) -> list[Analysis]:
        """Evaluate every position of a game after the `known` ones, or take the result from the store."""
        store, board, found = self._store(game, self._limits), self._core.board(game.start), list[Analysis]()
        with Progress(game.path.name, len(game.moves) + 1, every=0) as progress:
            for ply, move in enumerate([*game.moves, ""]):
                result = known[ply] if ply < len(known) else store.get(ply, board)
                if result is None:
                    result = self._analyst.evaluate(board)
                    store.put(ply, result)
                found.append(result)
                progress.add()
                if move:
                    board.push(move)
        return found


# ---- outputs ----


class Outputs:
    """The files that a run writes. RecordError if they would replace the games."""

    def __init__(self, args: argparse.Namespace, several: bool) -> None:
        wanted = [(args.kif, KIF), (args.html, HTML)]
        self._outputs = [Output(path, suffix, several, args.games) for path, suffix in wanted if path]
        self._limits = in_words(limits_of(args))
        self._entries = list[Data]()
        pages = next((output for output in self._outputs if output.suffix == HTML), None) if several else None
        self._index = pages.path(INDEX) if pages else None  # before the games: one may have this name

    def write(self, result: AnalysedGame, puzzles: list[Puzzle]) -> None:
        """Print the text and write the files. RecordError names the game and what could not be written."""
        print_game(result, puzzles)
        faults = list[str]()
        for output in self._outputs:
            try:
                path = output.path(result.game.stem)
                page = output.suffix == HTML
                write_file(path, page_text(result, self._limits, puzzles) if page else kif_text(result))
                self._entries += [entry_of(result, path.name)] if page else []
            except (OSError, RecordError) as error:
                faults.append(f"{result.game.name}: {text_of(error)}")
        if faults:
            raise RecordError("\n".join(faults))

    def finish(self) -> None:
        """Write the index of the pages, if there are several. OSError."""
        if self._index and self._entries:
            write_file(self._index, index_text(self._entries))


def write_file(path: Path, text: str) -> None:
    """Write a file and say so. OSError, RecordError."""
    write_text(path, text)
    show(_("wrote {path}").format(path=path))


# ---- the command ----


def run(args: argparse.Namespace) -> int:
    """Analyse all games; return 1 if a file was at fault, else 0."""
    core, limits = load_core(), replace(limits_of(args), multipv=args.multipv)
    games = [game for path in args.games for game in read_games(path)]
    outputs = Outputs(args, sum(isinstance(game, Game) for game in games) > 1)
    searches, faults = None, 0
    for game in games:
        try:
            if isinstance(game, RecordError):
                raise game
            searches = searches or Searches(core, limits, anew=args.again)
            result = searches.analysed(game, variations=args.variations)
            outputs.write(result, searches.puzzles(result) if args.puzzles else [])
        except RecordError as error:
            show(*str(error).split("\n"), file=sys.stderr)
            faults += 1
    outputs.finish()
    return 1 if faults else 0


def main(words: list[str]) -> int:
    """Return 0, 1 if a record could not be read, 2 if nothing could be done, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    goes_on = "" if cache_folder() is None else _("; without --again the same command goes on from here")
    return exit_status(lambda: run(args), RecordError, WeightsError, stopped=_("stopped") + goes_on)
