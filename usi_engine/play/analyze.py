"""`usi_engine analyze --browser [GAME]`: the place Analyse of the page, with a game on its board."""

import argparse
from pathlib import Path

from usi_engine.core import exit_status
from usi_engine.evaluation.names import INTERNAL
from usi_engine.language import _
from usi_engine.play import command
from usi_engine.play.analysis_place import AnalysisPlace
from usi_engine.play.game import PersonGame
from usi_engine.play.library import load
from usi_engine.usi.arguments import Parser


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine analyze --browser", description=_("Analyse on a page in the browser."))
    made.add_argument("game", nargs="?", type=Path, metavar="GAME", help=_("a game record to begin with"))
    made.add_argument("--browser", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--eval", default=INTERNAL, metavar="FILE", help=_("weights or network, as the option EvalFile"))
    no_open = _("with --browser: print the page's address, do not open it")
    made.add_argument("--no-open", action="store_true", help=no_open)
    return made


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C. ValueError, CoreError, MemoryError, KeyboardInterrupt."""
    record = load(args.game) if args.game else None
    play = command.parser().parse_args(["--browser", "--eval", args.eval, *["--no-open"] * args.no_open])
    game = PersonGame(command.make_settings(play, "", None))
    command.play_in_browser(game, play, "", analysed=record, place=AnalysisPlace.name)
    return 0


def main(words: list[str]) -> int:
    """Return 0, 2 if the game cannot be read, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    return exit_status(lambda: run(args), ValueError)
