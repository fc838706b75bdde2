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
from usi_engine.mate.problems import looks_like_position
from usi_engine.play.game import HANDICAPS, START, Game
from usi_engine.play.opponent import Opponent
from usi_engine.play.record import load
from usi_engine.play.screen import Screen, Style, style_of
from usi_engine.play.table import Settings, Table
from usi_engine.records.formats import RecordError
from usi_engine.usi.arguments import DAY, real
from usi_engine.usi.protocol import position_of

DEFAULT_LEVEL = 5
MEGABYTES = 64
# Exit statuses.
NOTHING_DONE, INTERRUPTED = 2, 130
SIDES = {"black": "b", "white": "w", "both": ""}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser("usi_engine play", description="Play a game against the engine in the terminal.")
    made.add_argument("what", nargs="*", metavar="FILE|POSITION",
                      help="a saved game to go on with, or a position: sfen ..., startpos moves ...")  # fmt: skip
    made.add_argument("--level", type=int, choices=range(FULL_STRENGTH + 1), metavar="0-20",
                      help=f"strength, 20 is full (default {DEFAULT_LEVEL})")  # fmt: skip
    made.add_argument("--side", choices=[*SIDES, "random"], help="yours (default black); both: two people")
    made.add_argument("--handicap", choices=list(HANDICAPS), help="White plays without these pieces and moves first")
    made.add_argument(
        "--seconds", type=real(0, DAY), default=2.0, help="the engine's time for a move without a clock (2)"
    )
    made.add_argument("--minutes", type=real(0, DAY / 60), default=0.0, help="with a clock: main time of each side")
    made.add_argument("--byoyomi", type=real(0, DAY), default=0.0, help="with a clock: seconds for each move after it")
    made.add_argument("--increment", type=real(0, DAY), default=0.0, help="with a clock: seconds added at each move")
    made.add_argument("--eval", default=INTERNAL, help="weights or network, as the option EvalFile")
    made.add_argument("--letters", action="store_true", help="letters for pieces, USI for moves")
    return made


def file_of(chosen: argparse.Namespace) -> Path | None:
    """The saved game to go on with."""
    text = " ".join(chosen.what)
    return Path(text) if text and not looks_like_position(text) else None


def game_of(chosen: argparse.Namespace, core: Core) -> tuple[Game, str, int | None]:
    """The game to play, the person's side and the level that a saved game names. ValueError."""
    text = " ".join(chosen.what)
    if not text:
        return Game(core, HANDICAPS[chosen.handicap] if chosen.handicap else START), "", None
    if chosen.handicap:
        raise ValueError("a handicap is for a new game")
    file = file_of(chosen)
    if file:
        return load(file, core)
    position = position_of(text)
    return Game(core, position.sfen, position.moves), "", None


def settings_of(chosen: argparse.Namespace, side: str, level: int | None) -> Settings:
    """What the options say; side and level of a saved game where they say nothing."""
    wanted = random.choice(("black", "white")) if chosen.side == "random" else chosen.side
    control = TimeControl(int(chosen.minutes * 60_000), int(chosen.byoyomi * 1000), int(chosen.increment * 1000), 1)
    found = next(number for number in (chosen.level, level, DEFAULT_LEVEL) if number is not None)
    return Settings(SIDES[wanted] if wanted else side or "b", found, max(chosen.seconds, 0.01), control)


def prepare_input() -> None:
    """Editing of lines where Python has it; bytes that are no text do not end the game."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        with suppress(ImportError):
            importlib.import_module("readline")


def say(text: str) -> None:
    """Print a line at once, also where the output is no terminal."""
    print(text, flush=True)


def farewell(table: Table) -> None:
    """How to go on with a game that is not saved."""
    if table.unsaved and table.game.ending is None:
        side = next(name for name, letter in SIDES.items() if letter == table.settings.side)
        print(f"To go on: usi_engine play {table.game.position} --level {table.settings.level} --side {side}")


def run(chosen: argparse.Namespace) -> int:
    """Play. ValueError, CoreError, MemoryError."""
    game, side, level = game_of(chosen, load_core())
    settings = settings_of(chosen, side, level)
    style = style_of(sys.stdout)
    screen = Screen(Style(style.kanji and not chosen.letters, style.colour), settings.side == "w")
    opponent = Opponent(say)
    for name, value in (("USI_Hash", str(MEGABYTES)), ("EvalFile", chosen.eval)):
        opponent.set(name, value)
    table = Table(game, opponent, settings, screen, file=file_of(chosen), say=say)
    say("help lists the commands. Your move: 7g7f, 7776FU or ７六歩." if style.kanji else "help lists the commands.")
    try:
        table.run()
        status = 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    print()
    farewell(table)
    opponent.close()
    return status


def main(words: list[str]) -> int:
    """Returns 0, 2 where there is nothing to play, 130 after Ctrl-C."""
    chosen = parser().parse_args(words)
    prepare_input()
    try:
        return run(chosen)
    except (ValueError, RecordError, CoreError, MemoryError) as error:
        print(text_of(error), file=sys.stderr)
        return NOTHING_DONE
