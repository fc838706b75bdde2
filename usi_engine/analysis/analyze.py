"""`usi_engine analyze GAME...`: each move's value, loss and better line; as text, as KIF for GUIs, as HTML pages."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from core_ext.board import Board
from usi_engine.analysis.analyst import (
    Analyst,
    Limits,
    Store,
    add_limits,
    analyse,
    confirm,
    in_words,
    read_limits,
    store_path,
    with_effort,
)
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import Data, index_text, make_entry, page_text
from usi_engine.analysis.puzzles import Puzzle, find_puzzles
from usi_engine.analysis.terminal import print_game
from usi_engine.core import exit_status
from usi_engine.evaluation.names import WeightsError
from usi_engine.files import user_folder
from usi_engine.language import _, text_of
from usi_engine.progress import Progress
from usi_engine.records.convert import Output
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import write_text
from usi_engine.records.games import Game, read_games
from usi_engine.search.results import Analysis
from usi_engine.usi.arguments import Parser, adder, spin
from usi_engine.usi.output import show

DEFAULT_NODES = 300_000
KIF, HTML = ".kif", ".html"
INDEX = "index"


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine analyze", description=_("Analyse every move of game records."))
    games = _("KIF, KI2, CSA, JKF or USI files, in UTF-8, Shift-JIS or EUC-JP")
    made.add_argument("games", nargs="+", type=Path, metavar="GAME", help=games)
    add = adder(made)
    add("--kif OUT", _("write KIF with values and lines; for several games, into this folder"), Path)
    add("--html OUT", _("write an HTML page; for several games, into this folder, with an index"), Path)
    add("--browser", _("open a page in the browser on which you move yourself"))
    add("--puzzles", _("look for puzzles in the game, for the HTML page"))
    add("--variations", _("analyse variations too"))
    add("--multipv N", _("lines for each position (1)"), spin("MultiPV"), 1)
    add_limits(made, DEFAULT_NODES)
    add("--again", _("search again instead of using kept results"))
    return made


class Searches:
    """The searches of a game, with their stores; `anew` drops what these have."""

    def __init__(self, game: Game, limits: Limits, analyst: Analyst, *, anew: bool) -> None:
        self._game, self._limits, self._analyst, self._anew = game, limits, analyst, anew
        self._stores = dict[Limits, Store]()

    def analyse(self, *, variations: bool) -> None:
        """Give each position of the game its analysis, those of variations too if they are asked for."""
        count = sum(1 for _node in self._game.root.nodes()) if variations else len(self._game.moves) + 1
        with Progress(self._game.path.name, count, every=0) as progress:
            for _node in analyse(self._game, self._search, variations=variations):
                progress.add()
        mistakes = _("{game}: mistakes").format(game=self._game.path.name)
        with Progress(mistakes, count, every=0) as progress:
            for _node in confirm(self._game, self._search):
                progress.add()

    def puzzles(self) -> list[Puzzle]:
        """Find the puzzles of the analysed game."""
        with Progress(_("puzzles"), len(self._game.moves) + 1, every=0) as progress:

            def search(ply: int, board: Board, effort: int, lines: int) -> Analysis:
                progress.add()
                return self._search(ply, board, effort, lines)

            return find_puzzles(self._game, search)

    def _search(self, number: int, board: Board, effort: int = 1, lines: int = 1) -> Analysis:
        """Return the result for the node of this number, kept or new."""
        limits = with_effort(self._limits, effort, max(self._limits.multipv, lines))
        if limits not in self._stores:
            self._stores[limits] = Store(store_path(self._game, limits), anew=self._anew)
        store = self._stores[limits]
        return store.get(number, board) or store.put(number, self._analyst.look(board, limits.multipv, effort))


class Outputs:
    """The files that a run writes. RecordError if they would replace the games."""

    def __init__(self, args: argparse.Namespace, several: bool) -> None:
        wanted = [(args.kif, KIF), (args.html, HTML)]
        self._outputs = [Output(path, suffix, several, args.games) for path, suffix in wanted if path]
        self._limits = in_words(read_limits(args))
        self._entries = list[Data]()
        pages = next((output for output in self._outputs if output.suffix == HTML), None) if several else None
        self._index = pages.path(INDEX) if pages else None  # before the games: one may have this name

    def write(self, game: Game, puzzles: list[Puzzle]) -> None:
        """Print the text and write the files. RecordError names the game and what could not be written."""
        print_game(game, puzzles)
        faults = list[str]()
        for output in self._outputs:
            try:
                path = output.path(game.stem)
                page = output.suffix == HTML
                write_file(path, page_text(game, self._limits, puzzles) if page else kif_text(game))
                self._entries += [make_entry(game, path.name)] if page else []
            except (OSError, RecordError) as error:
                faults.append(f"{game.name}: {text_of(error)}")
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


def run(args: argparse.Namespace) -> int:
    """Analyse all games; return 1 if a file was at fault, else 0."""
    limits = replace(read_limits(args), multipv=args.multipv)
    games = [game for path in args.games for game in read_games(path)]
    outputs = Outputs(args, sum(isinstance(game, Game) for game in games) > 1)
    analyst, faults = None, 0
    for game in games:
        try:
            if isinstance(game, RecordError):
                raise game
            analyst = analyst or Analyst(limits)
            searches = Searches(game, limits, analyst, anew=args.again)
            searches.analyse(variations=args.variations)
            outputs.write(game, searches.puzzles() if args.puzzles else [])
        except RecordError as error:
            show(*str(error).split("\n"), file=sys.stderr)
            faults += 1
    outputs.finish()
    return 1 if faults else 0


def main(words: list[str]) -> int:
    """Return 0, 1 if a record could not be read, 2 if nothing could be done, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    goes_on = "" if user_folder("cache") is None else _("; without --again the same command goes on from here")
    return exit_status(lambda: run(args), RecordError, WeightsError, stopped=_("stopped") + goes_on)
