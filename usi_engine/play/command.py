"""`usi_engine play`: a game against the engine in the terminal."""

import argparse
import importlib
import io
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NoReturn

from usi_engine.core import INTERRUPTED, exit_status, typed_board
from usi_engine.evaluation.names import INTERNAL
from usi_engine.files import user_folder
from usi_engine.language import _
from usi_engine.mate_tool.problems import looks_like_position
from usi_engine.play.dialogue import Dialogue, file_named
from usi_engine.play.game import EVEN, HANDICAPS, SIDES, PersonGame, Settings
from usi_engine.play.library import Library, is_own, load, side_and_level
from usi_engine.play.opponent import Opponent
from usi_engine.play.screen import Screen, View, has_kanji
from usi_engine.play.words import ask_handicap, ask_level, ask_side
from usi_engine.records.formats import SUFFIXES
from usi_engine.records.games import Game
from usi_engine.records.tree import Record
from usi_engine.search.skill import FULL_STRENGTH
from usi_engine.usi.arguments import DAY, Parser, adder, real, suggestion, whole
from usi_engine.usi.output import show
from usi_engine.usi.protocol import position_of

DEFAULT_LEVEL = 5
MEGABYTES = 64


def one_of(*names: str) -> Callable[[str], str]:
    """Return a type for argparse: one of these names."""

    def read(text: str) -> str:
        if text not in names:
            message = _("'{text}' is not one of {names}").format(text=text, names=", ".join(names))
            raise argparse.ArgumentTypeError(message + suggestion(text, names))
        return text

    return read


def of_each_side(read: Callable[[str], float]) -> Callable[[str], tuple[float, float]]:
    """Return a type for argparse: a number for both sides, or two for Black and White with a comma between them."""

    def read_pair(text: str) -> tuple[float, float]:
        numbers = [read(part) for part in text.split(",", 1)]
        return numbers[0], numbers[-1]

    return read_pair


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine play", description=_("Play a game against the engine in the terminal."))
    add, handicaps = adder(made), _("White plays without these pieces and moves first: {names}")
    level = _("strength, 0 to {most}, which is full (default {level})").format(most=FULL_STRENGTH, level=DEFAULT_LEVEL)
    what = _("a saved game to continue, or a position: sfen ..., startpos moves ...")
    made.add_argument("what", nargs="*", metavar="FILE|POSITION", help=what)
    add("--level N", level, whole(0, FULL_STRENGTH))
    side = _("your side: black (the default), white, random, or both (two people)")
    add("--side SIDE", side, one_of(*SIDES, "random"))
    add("--handicap NAME", handicaps.format(names=", ".join(HANDICAPS)), one_of(*HANDICAPS))
    add("--seconds S", _("the engine's time for a move if there is no clock (default 2)"), real(0, DAY), 2.0)
    minutes, seconds = of_each_side(real(0, DAY / 60)), of_each_side(real(0, DAY))
    add("--minutes M[,M]", _("clock: main time of each side, or of Black and of White"), minutes, (0.0, 0.0))
    add("--byoyomi S[,S]", _("clock: seconds a move after main time"), seconds, (0.0, 0.0))
    add("--increment S[,S]", _("clock: seconds added each move"), seconds, (0.0, 0.0))
    add("--resume", _("go on with the latest game that was saved by itself"))
    add("--eval FILE", _("weights or network, as the option EvalFile"), default=INTERNAL)
    add("--browser", _("play on a page in the browser"))
    add("--no-open", _("with --browser: print the page's address, do not open it"))
    add("--lan", _("with --browser: also for a phone or computer in the same network"))
    add("--letters", _("letters for pieces, USI for moves"))
    return made


def choose_file(args: argparse.Namespace) -> Path | None:
    """Return the saved game to continue. ValueError if there is none of this name."""
    text = " ".join(args.what)
    if not text or looks_like_position(text):
        return None
    path = Path(text) if Path(text).exists() else file_named(text)
    if not path.exists():
        others = [str(path.with_name(other.name)) for other in records_in(path.parent)]
        message = _("there is no file {file}").format(file=text)
        raise ValueError(message + suggestion(text, [*others, "startpos", "sfen"]))
    if path.is_dir():
        raise ValueError(_("{file} is a folder; name a file").format(file=path))
    return path


def records_in(folder: Path) -> list[Path]:
    """Return the game records in a folder, if it can be read."""
    try:
        return [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES]
    except OSError:
        return []


def record_given(args: argparse.Namespace) -> Record | None:
    """Return the game or position to go on from, if the command line names one. ValueError."""
    text = " ".join(args.what)
    if not text:
        return None
    if args.handicap:
        raise ValueError(_("a handicap is for a new game"))
    file = choose_file(args)
    return load(file) if file else Game.from_moves(typed_board(text).moves(), position_of(text).sfen)


def ask_missing(args: argparse.Namespace, side: str, level: int | None) -> None:
    """Ask for what neither the command line nor the saved game names; set the options. EOFError."""
    if args.level is None and level is None:
        args.level = ask_level(input, show, DEFAULT_LEVEL)
    if args.side is None and not side:
        args.side = ask_side(input, show)
    if args.handicap is None and not args.what:
        args.handicap = ask_handicap(input, show)


def make_settings(args: argparse.Namespace, side: str, level: int | None) -> Settings:
    """Return the settings; side and level are a saved game's unless options name them."""
    chosen = next(number for number in (args.level, level, DEFAULT_LEVEL) if number is not None)
    handicap = args.handicap if args.handicap in HANDICAPS else EVEN
    times = args.minutes, args.byoyomi, args.increment, args.seconds
    return Settings(chosen, args.side or side or "black", handicap, *times)


def prepare_input() -> None:
    """Enable line editing if Python has it, and replace bytes that are not text."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        with suppress(ImportError):
            importlib.import_module("readline")


def make_view(args: argparse.Namespace, game: PersonGame, on_terminal: bool) -> View:
    """Return the view of the game: in colour on a terminal, or as plain lines."""
    screen = Screen(has_kanji(sys.stdout) and not args.letters, flipped=game.person == 1)
    if not on_terminal:
        return View(screen)
    from usi_engine.play.terminal import view_of_terminal  # noqa: PLC0415  (rich is slow to import)

    return view_of_terminal(screen)


def make_opponent(args: argparse.Namespace, say: Callable[[str], None]) -> Opponent:
    """Return the engine with its options."""
    opponent = Opponent(say)
    for name, value in (("USI_Hash", str(MEGABYTES)), ("EvalFile", args.eval)):
        opponent.set(name, value)
    return opponent


def play_in_browser(
    game: PersonGame, args: argparse.Namespace, saved: str = "", *, analysed: Record | None = None, place: str = ""
) -> NoReturn:
    """Serve the page until Ctrl-C; `saved`: the name of the game if it was saved. KeyboardInterrupt.

    `place`: the place to open, if it is not Play; `analysed`: the record of Analyse.
    """
    # They import a web server and the analysis, which the terminal does not need.
    from usi_engine.play.analysis_place import AnalysisPlace  # noqa: PLC0415
    from usi_engine.play.browser import MyGames, Preferences, Site, play  # noqa: PLC0415
    from usi_engine.play.browser_server import Events  # noqa: PLC0415
    from usi_engine.play.shared_game import SharedGame  # noqa: PLC0415

    events, library = Events(), Library(user_folder("data"))
    with closing(make_opponent(args, show)) as opponent:
        opponent.new_game()
        started = bool(args.what or saved)
        shared = SharedGame(game, opponent, events, library, started=started, saved=saved)
        with closing(AnalysisPlace(shared, library, events, args.eval, analysed)) as analysis:
            preferences = Preferences(user_folder("data"), events)
            site = Site(events, shared, analysis, analysis.engine, MyGames(library, events), preferences, first=place)
            play(shared, site, events, show=not args.no_open, lan=args.lan, say=show)


def play_in_terminal(game: PersonGame, args: argparse.Namespace, on_terminal: bool) -> None:
    """Play games until the person quits. KeyboardInterrupt."""
    view, file = make_view(args, game, on_terminal), choose_file(args)
    with closing(make_opponent(args, view.say)) as opponent:
        dialogue = Dialogue(game, opponent, view, file=file if file and is_own(file) else None)
        try:
            dialogue.run()
        finally:
            print()
            if dialogue.unsaved and (command := dialogue.game.continuation()):
                print(_("To go on: {command}").format(command=command))


def run(args: argparse.Namespace) -> int:
    """Play games; return the exit status. ValueError, CoreError, MemoryError, KeyboardInterrupt."""
    if args.resume:
        saved = Library(user_folder("data")).unfinished()
        play_in_browser(Library(user_folder("data")).game(saved), args, saved)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    record = record_given(args)
    side, level = side_and_level(record) if record else ("", None)
    if on_terminal and not args.browser:
        try:
            ask_missing(args, side, level)
        except (EOFError, KeyboardInterrupt) as error:
            print()
            return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 0
    game = PersonGame(make_settings(args, side, level), record)
    if args.browser:
        play_in_browser(game, args)
    play_in_terminal(game, args, on_terminal)
    return 0


def main(words: list[str]) -> int:
    """Return 0, 2 if there is nothing to play, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    prepare_input()
    return exit_status(lambda: run(args), ValueError)
