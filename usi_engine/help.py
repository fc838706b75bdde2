"""Help of the program: its commands, one for a mistyped one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from usi_engine import NAME, __version__
from usi_engine.columns import wrap
from usi_engine.language import _
from usi_engine.usi.arguments import WIDEST

INDENT = 30  # columns of the syntax


def commands() -> Iterator[tuple[str, str]]:
    """Yield what can be typed, and what it does."""
    yield "usi_engine", _("speak USI on standard input and output (what a GUI starts)")
    yield "usi_engine play", _("play a game here, in the terminal")
    yield "usi_engine analyze GAME ...", _("analyse game records: a table, KIF, an HTML page")
    yield "usi_engine mate WHAT", _("find mates in an sfen, a file of sfens or a game record")
    yield "usi_engine convert GAME ...", _("convert game records: KIF, KI2, CSA, JKF, USI")
    yield "usi_engine book ...", _("make an opening book (build) or look into one (show)")
    yield "usi_engine suite FILE", _("search positions whose best move is known")
    yield "usi_engine csa ...", _("play on a CSA server such as floodgate")
    yield "usi_engine learn ...", _("train the evaluation from games")
    yield "usi_engine --where", _("print the path to register in a GUI")
    yield "usi_engine --version", _("print version, target CPU and instruction set")


def usi_commands() -> Iterator[tuple[str, str]]:
    """Yield the commands besides those of USI, and what they do."""
    yield "d, sfen, key, side", _("the position")
    yield "moves, checks", _("its legal moves, those that give check")
    yield "eval", _("its static value")
    yield "perft N", _("number of leaf nodes at depth N")
    yield "bench [DEPTH] [MEGABYTES]", _("nodes and speed over fixed positions")
    yield "getoption [NAME]", _("current values of the options")


def help_text() -> str:
    """Return the help of `usi_engine --help`."""
    width = min(shutil.get_terminal_size().columns, WIDEST) - 1
    lines = [_("{name} {version}, a shogi engine for USI programs.").format(name=NAME, version=__version__), ""]
    lines += rows(commands(), width)
    lines += ["", *wrap(_("Each of them explains itself: usi_engine play --help. --lang ja: in Japanese."), width)]
    lines += ["", *wrap(_("USI commands can be given too, one after the other:"), width)]
    lines += ["  usi_engine position startpos moves 7g7f go depth 10", "  usi_engine perft 5", ""]
    lines += [*wrap(_("Commands besides those of USI:"), width), *rows(usi_commands(), width)]
    lines += ["", *wrap(_("Ctrl-C ends the search of such a command with its bestmove."), width)]
    return "\n".join(lines)


def rows(table: Iterator[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield the lines of a table."""
    for syntax, text in table:
        first, *others = wrap(text, max(width - INDENT, 20))
        yield f"{syntax:<{INDENT}}{first}"
        yield from (" " * INDENT + line for line in others)
