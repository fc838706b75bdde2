"""USI commands as arguments of the program, their faults, and the help of the program."""

import shutil
from collections.abc import Iterable, Iterator

from usi_engine import NAME, __version__
from usi_engine.columns import wrap
from usi_engine.core import board_after
from usi_engine.language import _
from usi_engine.usi import protocol
from usi_engine.usi.arguments import WIDEST, suggestion
from usi_engine.usi.options import DECLARED, TUNING_PREFIX, Options
from usi_engine.usi.output import printable

INDENT = 30  # columns of the syntax


# ---- commands ----


def commands_of(arguments: list[str]) -> list[str]:
    """Split arguments into commands. One may be a whole command, in quotes; empty ones beside others are skipped."""
    commands: list[list[str]] = []
    whole = True
    for argument in list(filter(None, arguments)) or arguments:
        words = argument.split(" ")
        if whole or begins_command(words[0], commands[-1]):
            commands.append([])
            whole = len(words) > 1
        commands[-1] += words
    return [" ".join(words) for words in commands]


def begins_command(word: str, before: list[str]) -> bool:
    """Return whether a word begins a new command after `before`; `sfen` and `moves` may belong to a `position`."""
    if before[0] == "setoption" or word not in protocol.COMMAND_WORDS:
        return False
    if before[0] == "position":
        return not (word == "sfen" and len(before) == 1) and not (word == "moves" and "moves" not in before)
    return True


# ---- faults ----


def fault_in(commands: Iterable[str], tools: Iterable[str]) -> str | None:
    """Return the fault of the first bad command; None if all are good. `tools` are the program's other commands."""
    for command in commands:
        parsed = protocol.parse(command)
        if parsed is protocol.Word.NONE:
            return unknown_command(command, tools)
        if isinstance(parsed, protocol.SetPosition) and not parsed.sfen:
            message = _("give a position, `startpos` or `sfen ...`, not '{command}'")
            return message.format(command=printable(command))
        if isinstance(parsed, protocol.Malformed):
            return printable(parsed.text)
        if fault := fault_of_words(command, parsed) or fault_of_option(parsed):
            return fault
    return None


def unknown_command(command: str, tools: Iterable[str]) -> str:
    """Return a message about a command that does not exist, with the one that it resembles."""
    similar = suggestion(command.partition(" ")[0], [*tools, *protocol.COMMAND_WORDS])
    message = _("unknown command '{command}'").format(command=printable(command))
    return message + (similar or _("; usi_engine --help lists the commands"))


def fault_of_words(command: str, parsed: protocol.Command) -> str | None:
    """Return which word after the first one cannot be used; a GUI's unknown words are skipped."""
    name, rest = protocol.first_word(command)
    known: Iterable[str] = ()
    if isinstance(parsed, protocol.Go | protocol.GoMate):
        if parsed.faults:
            return printable(parsed.faults[0])
        unknown, known = parsed.skipped, protocol.GO_WORDS
    else:
        unknown = tuple(rest.split()) if name in protocol.WITHOUT_ARGUMENTS else ()
    if not unknown:
        return None
    message = _("{command} does not know the word '{word}'").format(command=name, word=printable(unknown[0]))
    return message + suggestion(unknown[0], known)


def fault_of_option(parsed: protocol.Command) -> str | None:
    """Return why a `setoption` or `getoption` would change or show nothing."""
    if isinstance(parsed, protocol.SetOption) and not parsed.name.startswith(TUNING_PREFIX):
        refusal = Options().set(parsed.name, parsed.value)
    elif isinstance(parsed, protocol.GetOption) and parsed.name and not Options().listing(parsed.name):
        refusal = Options().set(parsed.name, "")
    else:
        return None
    return printable(refusal) + suggestion(parsed.name, DECLARED.keys() - {parsed.name}) if refusal else None


def refused(commands: Iterable[str]) -> str | None:
    """Return why the first bad position or move is refused; None if all are legal."""
    board = board_after(protocol.STARTPOS, ())
    for parsed in map(protocol.parse, commands):
        if isinstance(parsed, protocol.SetPosition):
            try:
                board = board_after(parsed.sfen, parsed.moves)
            except ValueError as error:
                return _("position refused: {reason}").format(reason=printable(str(error)))
        elif isinstance(parsed, protocol.Go):
            illegal = [move for move in parsed.searchmoves if not board.is_legal(move)]
            if illegal:
                return _("illegal move: '{move}'").format(move=printable(illegal[0]))
    return None


# ---- help ----


def commands() -> Iterator[tuple[str, str]]:
    """Yield what can be typed, and what it does."""
    yield "usi_engine", _("speak USI on standard input and output (what a GUI starts)")
    yield "usi_engine play --browser", _("play a game in your browser")
    yield "usi_engine play", _("play a game here, in the terminal")
    yield "usi_engine analyze GAME ...", _("analyse game records: a table, KIF, an HTML page")
    yield "usi_engine analyze --browser", _("analyse on a board in your browser")
    yield "usi_engine mate WHAT", _("find mates in an sfen, a file of sfens or a game record")
    yield "usi_engine convert GAME ...", _("convert game records: KIF, KI2, CSA, JKF, USI")
    yield "usi_engine book ...", _("make an opening book (build) or look into one (show)")
    yield "usi_engine suite FILE", _("search positions whose best move is known")
    yield "usi_engine match A B ...", _("play a match or a tournament of USI engines")
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
    lines += ["", *wrap(_("Help on a command: usi_engine play --help. In Japanese: --lang ja."), width)]
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
