"""`usi_engine play`: a game against the engine in the terminal."""

from __future__ import annotations

import argparse
import importlib
import io
import random
import sys
from contextlib import suppress
from pathlib import Path

from usi_engine.core import Core, CoreError, load_core, text_of
from usi_engine.csa.clock import TimeControl
from usi_engine.evaluation.names import INTERNAL
from usi_engine.game.skill import FULL_STRENGTH
from usi_engine.mate_tool.problems import looks_like_position
from usi_engine.play.game import HANDICAPS, START, LiveGame
from usi_engine.play.game_loop import GameLoop, Settings
from usi_engine.play.opponent import Opponent
from usi_engine.play.record import load
from usi_engine.play.screen import Screen, Style, style_of
from usi_engine.usi.arguments import DAY, Parser, real
from usi_engine.usi.protocol import position_of

DEFAULT_LEVEL = 5
MEGABYTES = 64
# Exit statuses.
NOTHING_DONE, INTERRUPTED = 2, 130
SIDES = {"black": "b", "white": "w", "both": ""}


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine play", description="Play a game against the engine in the terminal.")
    made.add_argument("what", nargs="*", metavar="FILE|POSITION",
                      help="a saved game to continue, or a position: sfen ..., startpos moves ...")  # fmt: skip
    made.add_argument("--level", type=int, choices=range(FULL_STRENGTH + 1), metavar="0-20",
                      help=f"strength, 20 is full (default {DEFAULT_LEVEL})")  # fmt: skip
    made.add_argument("--side", choices=[*SIDES, "random"], help="your side (default black); both: two people")
    handicaps = ", ".join(HANDICAPS)
    made.add_argument("--handicap", choices=list(HANDICAPS), metavar="NAME",
                      help=f"White plays without these pieces and moves first: {handicaps}")  # fmt: skip
    made.add_argument(
        "--seconds", type=real(0, DAY), default=2.0, help="the engine's time for a move if there is no clock (2)"
    )
    made.add_argument("--minutes", type=real(0, DAY / 60), default=0.0, help="clock: main time of each side")
    made.add_argument("--byoyomi", type=real(0, DAY), default=0.0, help="clock: seconds a move after main time")
    made.add_argument("--increment", type=real(0, DAY), default=0.0, help="clock: seconds added each move")
    made.add_argument("--eval", default=INTERNAL, help="weights or network, as the option EvalFile")
    made.add_argument("--letters", action="store_true", help="letters for pieces, USI for moves")
    return made


def file_of(args: argparse.Namespace) -> Path | None:
    """Return the saved game to continue."""
    text = " ".join(args.what)
    return Path(text) if text and not looks_like_position(text) else None


def game_of(args: argparse.Namespace, core: Core) -> tuple[LiveGame, str, int | None]:
    """Return the game to play, and the person's side and the level if a saved game names them. ValueError."""
    text = " ".join(args.what)
    if not text:
        return LiveGame(core, HANDICAPS[args.handicap] if args.handicap else START), "", None
    if args.handicap:
        raise ValueError("a handicap is for a new game")
    file = file_of(args)
    if file:
        return load(file, core)
    position = position_of(text)
    return LiveGame(core, position.sfen, position.moves), "", None


def settings_of(args: argparse.Namespace, side: str, level: int | None) -> Settings:
    """Return the settings; side and level are a saved game's unless options name them."""
    wanted = random.choice(("black", "white")) if args.side == "random" else args.side
    control = TimeControl(int(args.minutes * 60_000), int(args.byoyomi * 1000), int(args.increment * 1000), 1)
    chosen = next(number for number in (args.level, level, DEFAULT_LEVEL) if number is not None)
    return Settings(SIDES[wanted] if wanted else side or "b", chosen, max(args.seconds, 0.01), control)


def prepare_input() -> None:
    """Enable line editing if Python has it, and replace bytes that are not text."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        with suppress(ImportError):
            importlib.import_module("readline")


def say(text: str) -> None:
    """Print a line at once, even if the output is not a terminal."""
    print(text, flush=True)


def print_continuation(loop: GameLoop) -> None:
    """Print the command that continues a game that is not saved."""
    if loop.unsaved and loop.game.ending is None:
        side = next(name for name, letter in SIDES.items() if letter == loop.settings.side)
        print(f"To go on: usi_engine play {loop.game.position} --level {loop.settings.level} --side {side}")


def run(args: argparse.Namespace) -> int:
    """Play games; return the exit status. ValueError, CoreError, MemoryError."""
    game, side, level = game_of(args, load_core())
    settings = settings_of(args, side, level)
    style = style_of(sys.stdout)
    screen = Screen(Style(style.kanji and not args.letters, style.colour), settings.side == "w")
    opponent = Opponent(say)
    for name, value in (("USI_Hash", str(MEGABYTES)), ("EvalFile", args.eval)):
        opponent.set(name, value)
    loop = GameLoop(game, opponent, settings, screen, file=file_of(args), say=say)
    say("help lists the commands. Your move: 7g7f, 7776FU or ７六歩." if style.kanji else "help lists the commands.")
    try:
        loop.run()
        status = 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    print()
    print_continuation(loop)
    opponent.close()
    return status


def main(words: list[str]) -> int:
    """Return 0, 2 if there is nothing to play, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    prepare_input()
    try:
        return run(args)
    except (ValueError, CoreError, MemoryError) as error:
        print(text_of(error), file=sys.stderr)
        return NOTHING_DONE
