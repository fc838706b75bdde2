"""A browser, and pages that it opens. The tests of this folder need Playwright and Chromium: `make test-page`."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from core_ext.board import Board
from tests.programs import ROOT
from tests.records.common import searched
from usi_engine import language
from usi_engine.analysis.page import index_text, make_entry, page_text
from usi_engine.analysis.puzzles import Puzzle

WIDTHS = (390, 768, 1280)
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
OWN = ("file:", "data:", "blob:", "http://127.0.0.1:")

OpenPage = Callable[..., Page]
Start = Callable[..., str]

PLAY_OPTIONS = ("--level", "0", "--seconds", "0.02")

MATE_IN_THREE = "9/9/6S2/8k/9/7R1/9/9/9 b r2b4g3s3n4l18p 1"
SOLUTION = ("3c2d+", "1d1e", "2d2e")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "these tests need chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an address. Afterwards no page may have had an error or have asked another host for anything."""
    faults, contexts = list[str](), []

    def opened(address: str, width: int = 1280, theme: Theme = "light", **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: None if asked.url.startswith(OWN) else faults.append(asked.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def running() -> list[subprocess.Popen[str]]:
    """The programs that `start` has started."""
    return []


@pytest.fixture
def start(running: list[subprocess.Popen[str]], tmp_path: Path) -> Iterator[Start]:
    """Starts a command of the program with these words; returns the address of its page.

    All keep their games in one folder.
    """
    environment = os.environ | {"KOMADORI_DATA": str(tmp_path / "data")}

    def started(*words: str, command: str = "play", options: tuple[str, ...] = PLAY_OPTIONS) -> str:
        program = [sys.executable, "-m", "usi_engine", command, "--browser", "--no-open", "--eval", "material"]
        words = (*program, *options, *words)
        running.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment))
        output = running[-1].stdout
        assert output is not None
        address = re.search(r"http://[\w.:/#-]+", output.readline())
        assert address
        return address[0]

    yield started
    for one in running:
        one.terminate()
        one.communicate(timeout=20)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of pages by name and language: "game en" with a puzzle, "variations en", "index en", "game ja", ..."""
    found, results = {}, {name: searched(f"{file}.kifu", 2) for name, file in
                          (("game", "whole_game"), ("variations", "variations"))}  # fmt: skip
    results["variations"].header.update({"先手": "W" * 90, "棋戦": "王" * 90})
    accepted = tuple((move,) for move in SOLUTION[::2])
    puzzle = Puzzle(50, Board(MATE_IN_THREE), "Mate in 3", SOLUTION, accepted, "", "1c1d")
    for lang in language.LANGUAGES:
        folder = tmp_path_factory.mktemp(lang)
        language.choose(lang)
        for name, result in results.items():
            found[f"{name} {lang}"] = write(folder / f"{name}.html", page_text(result, "300 nodes", [puzzle]))
        entries = [make_entry(result, f"{name}.html") for name, result in results.items()]
        found[f"index {lang}"] = write(folder / "index.html", index_text(entries))
    language.choose("en")
    return found


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.as_uri()
