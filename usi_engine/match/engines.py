"""The engines of a match as the command line names them: commands, options and limits."""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from usi_engine.clock import TimeControl
from usi_engine.language import _
from usi_engine.match.game import EngineConfig
from usi_engine.match.runs import MatchError, file_digest
from usi_engine.search.results import MOST_NODES, Limit
from usi_engine.usi.arguments import name_value, whole
from usi_engine.usi.options import Option
from usi_engine.usi.output import show
from usi_engine.usi.process import EngineError, own_engine

Value = TypeVar("Value")

NAMED = re.compile(r"([\w.+-]+)=(.*)", re.S)
OWN = "usi_engine"  # the command that means this program
# Set if the engine declares them and no --option does.
USUAL_OPTIONS = {
    "Threads": "1", "Thread": "1", "USI_OwnBook": "false", "BookDepth": "0", "UCI_Variant": "shogi",
    "USI_Variant": "shogi", "Verbose": "0",
}  # fmt: skip


def clock(text: str) -> TimeControl:
    """Read `MAIN`, `MAIN+INCREMENT` or `MAIN/BYOYOMI` in seconds."""
    found = re.fullmatch(r"([\d.]+)(?:([+/])([\d.]+))?", text, re.ASCII)
    try:
        main, extra = (round(float(part or 0) * 1000) for part in (found[1], found[3])) if found else (0, 0)
    except ValueError:
        main = extra = 0
    if not found or not 0 < main + extra < 2**31:
        message = _("'{text}' is not MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds")
        raise argparse.ArgumentTypeError(message.format(text=text))
    return TimeControl(main, *((0, extra) if found[2] == "+" else (extra, 0)))


LIMITS: dict[str, Callable[[str], Limit | TimeControl]] = {
    "nodes": lambda text: Limit(nodes=whole(1, MOST_NODES)(text)),
    "depth": lambda text: Limit(depth=whole(1, 1000)(text)),
    "movetime": lambda text: Limit(whole(1)(text) / 1000),
    "time": clock,
}


def read_engines(arguments: argparse.Namespace) -> tuple[EngineConfig, ...]:
    """Return the engines with their options and limits; nothing is started. MatchError."""
    named = [split_name(text) for text in arguments.engines]
    names = [name for name, _words in named]
    for name in names:
        if names.count(name) > 1:
            raise MatchError(_("two engines are called '{name}'; name them: NAME=COMMAND").format(name=name))
    options = [of_engine(text, names, "--option", name_value) for text in arguments.option]
    limits, found = read_limits(arguments, names), []
    for name, words in named:
        own = [value for place in ("", name) for owner, value in options if owner == place]  # its own replace others
        limit = limits.get(name) or limits.get("")
        if limit is None:
            text = _("give a limit of the moves of {name}: --time, --movetime, --nodes or --depth")
            raise MatchError(text.format(name=name))
        found.append(EngineConfig(name, find_program(words), dict(own), limit))
    return tuple(found)


def read_limits(arguments: argparse.Namespace, names: list[str]) -> dict[str, Limit | TimeControl]:
    """Return the limits by the names of engines, empty for all. MatchError."""
    found = dict[str, Limit | TimeControl]()
    for kind, read in LIMITS.items():
        for text in getattr(arguments, kind):
            name, limit = of_engine(text, names, f"--{kind}", read)
            if name in found:
                raise MatchError(_("--{kind} {text}: there is another limit").format(kind=kind, text=text))
            found[name] = limit
    return found


def split_name(text: str) -> tuple[str, list[str]]:
    """Return the name and the words of `COMMAND` or `NAME=COMMAND`; on Windows a backslash is part of a path."""
    found = NAMED.fullmatch(text)
    command = found[2] if found else text
    try:
        words = [word.strip('"') for word in shlex.split(command, posix=os.name != "nt")]
    except ValueError as error:
        raise MatchError(f"{text}: {error}") from None
    if os.path.isfile(command):  # a path with spaces
        words = [command]
    if not words:
        raise MatchError(_("the command of an engine is empty"))
    return found[1] if found else Path(words[0]).stem, words


def find_program(words: list[str]) -> tuple[str, ...]:
    """Return a command with the path of its program. MatchError."""
    if words[0] == OWN:
        return (*own_engine(), *words[1:])
    program = shutil.which(os.path.expanduser(words[0]))
    if program is None:
        raise MatchError(_("no program '{name}'").format(name=words[0]))
    return (os.path.abspath(program), *words[1:])


def of_engine(text: str, names: Iterable[str], argument: str, read: Callable[[str], Value]) -> tuple[str, Value]:
    """Return the engine of `NAME:VALUE`, empty for a VALUE of all, and what was read. MatchError."""
    name, colon, rest = text.partition(":")
    own = bool(colon) and name in names
    try:
        return (name, read(rest)) if own else ("", read(text))
    except argparse.ArgumentTypeError as error:
        raise MatchError(f"{argument}: {error}") from None


def checked(config: EngineConfig) -> tuple[EngineConfig, dict[str, Option]]:
    """Start the engine once; return it with the usual options that it declares, and its options. MatchError."""
    process = config.process(lambda text: show(f"{config.name}: {text}", file=sys.stderr))
    try:
        process.prepare()
    except EngineError as error:
        raise MatchError(" | ".join([error.args[0], *error.last_lines])) from None
    finally:
        process.quit()
    given = {name.lower() for name in config.options}
    free = {name for name in process.declared if name.lower() not in given}
    usual = {name: text for name, text in USUAL_OPTIONS.items() if name in free}
    return replace(config, options=usual | dict(config.options)), process.declared


def digests(config: EngineConfig) -> list[str]:
    """Return the hash of the program and of each file, or network's folder, that an option names."""
    named = [config.command[0], *config.options.values()]
    return [text and file_digest(config.folder / os.path.expanduser(text)) for text in named]
