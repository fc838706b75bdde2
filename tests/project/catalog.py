"""Texts of the program that are shown in the user's language, and their Japanese ones.

`python -m tests.project.catalog` lists what lacks Japanese: texts of the program, and options whose row in
docs/usi.ja.md is missing or has another default or range. Also lists Japanese texts that nothing shows.
"""

import argparse
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po

from tests.programs import ROOT
from tests.project.pages import USI, USI_JAPANESE, option_rows
from usi_engine.analysis.page import PAGES, english_texts
from usi_engine.core import with_places

PROGRAM = ROOT / "usi_engine"
JAPANESE = PROGRAM / "locale" / "ja" / "LC_MESSAGES" / "usi_engine.po"


def find_texts(path: Path, *functions: str) -> Iterator[str]:
    """Yield the arguments of `_()` and other functions in a file."""
    with path.open("rb") as source:
        for _line, message, _comments, _context in extract("python", source, dict.fromkeys(["_", *functions])):
            if isinstance(message, str):
                yield message


def texts_of_core() -> Iterator[str]:
    """Yield the messages about positions and moves, with `{0}`, `{1}`, ... for what they quote."""
    for line in (ROOT / "core_ext" / "shogi" / "sfen.pyx").read_text(encoding="utf-8").splitlines():
        if found := re.search(r'raise ValueError\(f?"(.*)"\)', line):
            yield with_places(re.sub(r"'\{.*?\}'(?= |$)", "'x'", found[1]).replace("{len(rows)}", "0"))


def texts() -> dict[str, Path]:
    """Return the texts of the program, each with a file that shows it."""
    found = {text: path for path in sorted(PROGRAM.rglob("*.py")) for text in find_texts(path)}
    found |= dict.fromkeys(english_texts(), PAGES)
    # The fault of a file is translated when it is shown.
    for path in sorted(one for name in ("book", "evaluation", "records") for one in (PROGRAM / name).rglob("*.py")):
        with redirect_stderr(io.StringIO()):  # Babel warns of f-strings, which stay English
            found |= dict.fromkeys(find_texts(path, "fault", "Fault", "named_errors", "EndKind"), path)
    found |= dict.fromkeys(texts_of_core(), ROOT / "core_ext" / "shogi" / "sfen.pyx")
    return found


def catalog() -> Catalog:
    """Return the Japanese catalog."""
    with JAPANESE.open("rb") as file:
        return read_po(file, locale="ja")


def translated() -> dict[str, str]:
    """Return the Japanese text of each English one that has one."""
    found = {}
    for message in catalog():
        if isinstance(message.id, str) and isinstance(message.string, str) and message.id and message.string:
            found[message.id] = message.string
    return found


if __name__ == "__main__":
    english, japanese = option_rows(USI), option_rows(USI_JAPANESE)
    for name, row in english.items():
        if name not in japanese:
            print(f"{name}: missing")
        elif japanese[name] != row:
            print(f"{name}: {japanese[name]} instead of {row}")
    shown, known = texts(), translated()
    for text, path in shown.items():
        if text not in known:
            print(f"{path.relative_to(ROOT)}: {text!r}")
    for text in known.keys() - shown.keys() - {*find_texts(Path(argparse.__file__))}:  # argparse shows some
        print(f"not shown: {text!r}")
