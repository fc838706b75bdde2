"""The project's pages, and functions that find commands, links and option rows in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.programs import ROOT

READMES = [ROOT / "README.md", ROOT / "README.ja.md"]
USI, USI_JAPANESE = ROOT / "docs" / "usi.md", ROOT / "docs" / "usi.ja.md"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(path for name in ("docs", "bench", "tests") for path in (ROOT / name).rglob("*.md"))]
)

FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
INLINE_CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
OPTION_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+?) \| ([^|]*)\|", re.M)
SHELL_OPERATORS = frozenset({"|", "||", "&&", ";", "#", ">"})


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Return the text without its code blocks."""
    return FENCE.sub("", text)


def code(text: str) -> Iterator[str]:
    """Yield each line of the code blocks, continued lines joined, then each piece of inline code."""
    for block in FENCE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    yield from INLINE_CODE.findall(prose(text))


def find_commands(text: str, program: str) -> Iterator[list[str]]:
    """Yield the arguments of each command in the page's code that calls the program, up to a comment or operator."""
    for line in code(text):
        words = shlex.split(line, comments=True) if line.startswith(f"{program} ") else []
        ends = [place for place, word in enumerate(words) if word in SHELL_OPERATORS]
        if words:
            yield words[1 : min(ends, default=len(words))]


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    plain = INLINE_CODE.sub(r"\1", LINK.sub("", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in HEADING.findall(prose(read(page)))}


def option_rows(page: Path) -> dict[str, tuple[str, str]]:
    """Return default and range of each option in a page's tables, with Japanese words translated."""
    text = read(page).replace("コア数)", "cores)").replace("〜", " to ")
    return {name: (default.strip("`"), limits.strip()) for name, default, limits in OPTION_ROW.findall(text)}
