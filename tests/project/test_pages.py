"""Commands, options and links in the pages exist."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.programs import ROOT
from tests.project import pages
from tests.project.pages import LINK, PAGES, READMES, USI, arguments_of, code, option_rows, prose, read
from usi_engine.__main__ import TOOLS
from usi_engine.book_tool.command import parser as book_parser
from usi_engine.csa.command import arguments_of as csa_arguments
from usi_engine.game.command_line import commands_of
from usi_engine.learn.command import parser as learn_parser
from usi_engine.usi.options import DECLARED, MOST_THREADS_BY_DEFAULT, Options, Spin
from usi_engine.usi.protocol import Ignored, Malformed, parse

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Folders whose files the pages name in code. Names with a placeholder or a wildcard do not match.
REPOSITORY_FILE = re.compile(r"(?:core_ext|usi_engine|tests|bench|docs|scripts|\.github|\.ci)/[\w./-]*")

page_cases = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


# ---- commands ----


@page_cases
def test_modules_exist(page: Path) -> None:
    """Check each `python -m MODULE`."""
    named = [words[1] for words in arguments_of(read(page), "python") if len(words) > 1 and words[0] == "-m"]
    ours = [name for name in named if name.split(".")[0] in ("bench", "tests", "usi_engine")]
    assert [name for name in ours if find_spec(name) is None] == []


@page_cases
def test_files_exist(page: Path) -> None:
    for line in code(read(page)):
        for word in line.split():
            name = word.strip("\"',:;()").split("#")[0]
            if REPOSITORY_FILE.fullmatch(name) and not re.search(r"\d\.0$", name):
                assert (ROOT / name).exists(), name


def make_targets() -> set[str]:
    heads = re.findall(r"^((?:[\w$()/.-]+ ?)+):(?!=)", read(ROOT / "Makefile"), re.M)
    return {name for head in heads for name in head.split()}


@pytest.mark.parametrize("page", PAGES + WORKFLOWS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(page: Path) -> None:
    lines = re.findall(r"\brun: (make .*)", read(page)) if page in WORKFLOWS else code(read(page))
    calls = [words[1:] for words in map(pages.shell_words, lines) if words[:1] == ["make"]]
    assert {word for words in calls for word in words if "=" not in word} <= make_targets()


def check_learn(words: list[str]) -> None:
    if words != ["--help"]:
        commands: Any = next(action.choices for action in learn_parser()._actions if action.dest == "command")
        unknown = {word for word in words if word.startswith("--")} - set(commands[words[0]]._option_string_actions)
        assert not unknown, f"usi_engine learn {words[0]} has no {unknown}"


def check_csa(words: list[str]) -> None:
    if words and words != ["--help"]:
        csa_arguments([word for word in words if word != "..."])


def check_book(words: list[str]) -> None:
    if len(words) > 1:
        book_parser().parse_args(words)
    else:
        assert words in ([], ["build"], ["show"])


CHECKS = {"learn": check_learn, "csa": check_csa, "book": check_book}


def check_engine(words: list[str]) -> None:
    """Check the arguments of `usi_engine`: a tool with its options, or USI commands."""
    if not words or set(words) <= {"--help", "--version", "--where", "|"}:
        return
    if words[0] in CHECKS:
        CHECKS[words[0]](words[1:])
    elif words[0] in TOOLS:
        import_module(TOOLS[words[0]]).parser().parse_args(words[1:])
    else:
        for command in commands_of(words):
            assert not isinstance(parse(command), Ignored | Malformed), command


@page_cases
def test_engine_commands_exist(page: Path) -> None:
    for words in arguments_of(read(page), "usi_engine"):
        check_engine(words)


# ---- options ----


def shown_default(name: str) -> str:
    """Return the default as the pages show it; that of Threads depends on the machine."""
    return f"min({MOST_THREADS_BY_DEFAULT}, cores)" if name == "Threads" else Options().shown(name)


def shown_range(name: str) -> str:
    kind = DECLARED[name]
    return f"{kind.least} to {kind.most}" if isinstance(kind, Spin) else ""


def test_option_table_matches_the_declarations() -> None:
    assert option_rows(USI) == {name: (shown_default(name), shown_range(name)) for name in DECLARED}


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_readme_shows_existing_options(page: Path) -> None:
    text = read(page).replace("コア数)", "cores)")
    for name, default in re.findall(r"^\| `(\w+)` \| ([^|]*?) ?\|", text, re.M):
        assert default.strip("`") == shown_default(name).replace("<empty>", ""), name


# ---- links ----


@page_cases
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in LINK.findall(prose(read(page))):
        if "://" in target:
            continue
        name, _, heading = unquote(target).partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not heading or heading in pages.anchors(path), target
