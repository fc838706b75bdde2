"""Parser of a command's arguments, and types for it: numbers in a range.

The types raise ArgumentTypeError, which quotes the text and names the range.
"""

import argparse
import shutil
from collections.abc import Callable, Iterable
from typing import Any

from usi_engine.columns import wrap
from usi_engine.language import LANGUAGES, _
from usi_engine.usi.options import DECLARED

DAY = 86400  # seconds
WIDEST = 80  # columns of a help text


class HelpFormatter(argparse.HelpFormatter):
    """Formatter of help that fits into 80 columns and the terminal, and breaks lines in Japanese text."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, WIDEST) - 3)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrap(text, width - len(indent)))


class Parser(argparse.ArgumentParser):
    """Parser of a command, which has `--lang` and suggests an option for a mistyped one."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": HelpFormatter, "allow_abbrev": False, **named})
        # The program reads --lang before it makes the parser.
        self.add_argument("--lang", choices=LANGUAGES, help=_("language of messages (default: that of the system)"))

    def print_help(self, file: Any = None) -> None:
        """Print the help. OSError, which argparse would hide."""
        print(self.format_help(), end="", file=file)

    def parse_known_args(self, *arguments: Any, **named: Any) -> Any:
        """Parse the arguments. Exits with a message if there is an unknown one."""
        found, unknown = super().parse_known_args(*arguments, **named)
        if unknown:
            message = _("unknown argument '{word}'").format(word=unknown[0])
            self.error(message + suggestion(unknown[0].partition("=")[0], self._option_string_actions))
        return found, unknown


def adder(to: argparse._ActionsContainer) -> Callable[..., None]:
    """Return `add(words, text, read, default, ...)`; words are `--margin SECONDS`, or `--ponder` for a flag."""

    def add(words: str, text: str, read: Callable[[str], Any] = str, default: Any = None, **others: Any) -> None:
        name, _space, value = words.partition(" ")
        if value or others:
            to.add_argument(name, metavar=value or None, type=read, default=default, help=text, **others)
        else:
            to.add_argument(name, action="store_true", help=text)

    return add


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the known word that it resembles, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415  (slow to import)

    similar = get_close_matches(word, list(known), 1)
    return _("; did you mean '{word}'?").format(word=similar[0]) if similar else ""


def whole(least: int = 0, most: int = 2**31 - 1) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and least <= int(text) <= most):
            message = _("'{text}' is not a whole number from {least} to {most}")
            raise argparse.ArgumentTypeError(message.format(text=text, least=least, most=most))
        return int(text)

    return read


def real(least: float, most: float) -> Callable[[str], float]:
    """Return a reader of numbers from `least` to `most`."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not least <= number <= most:
            message = _("'{text}' is not a number from {least} to {most}")
            raise argparse.ArgumentTypeError(message.format(text=text, least=least, most=most))
        return number

    return read


def spin(option: str) -> Callable[[str], int]:
    """Return a reader of whole numbers in the range of a USI option."""
    return whole(*DECLARED[option].limits)


def name_value(text: str) -> tuple[str, str]:
    """Read NAME=VALUE, an option of an engine."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(_("'{text}' is not NAME=VALUE").format(text=text))
    return name, value
