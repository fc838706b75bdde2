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


# ---- checks of every page ----


# Controls without an accessible name, or smaller than 24 pixels (WCAG 2.2, 2.5.8).
CONTROLS = """() => [...document.querySelectorAll("button, a[href], input, select")].flatMap(one => {
  if (!one.checkVisibility()) return [];
  const labels = [...(one.labels || [])].map(label => label.textContent).join("");
  const name = one.getAttribute("aria-label") || one.textContent.trim() || labels;
  const box = one.getBoundingClientRect(), inText = one.tagName === "A" && one.closest("p, li");
  const large = Math.round(Math.min(box.width, box.height)) >= 24;
  return name && (inText || large) ? [] : [one.outerHTML.slice(0, 120)];
})"""

# Texts whose contrast is below AA (WCAG 2.2, 1.4.3). The wood's colour behind a gradient is its background-color, its
# darkest. Pieces are pictures; disabled controls are exempt.
CONTRAST = """() => {
  const parse = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const own = one => parse(getComputedStyle(one).backgroundColor);
  const behind = one => one ? over(own(one), behind(one.parentElement)) : [255, 255, 255];
  const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), one = walker.currentNode.parentElement, style = getComputedStyle(one);
    if (!text || !one.checkVisibility() || one.closest("script, style, .sb-piece, .hidden, :disabled")) continue;
    const back = behind(one), front = over(parse(one.closest("svg") ? style.fill : style.color), back);
    const [low, high] = [light(front), light(back)].sort((a, b) => a - b), ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) found.push(`${one.outerHTML.slice(0, 60)}: ${ratio.toFixed(2)}`);
  }
  return found;
}"""


def walk_to(page: Page, square: str) -> None:
    """Press arrow keys from the focused square to this one of a board that is not turned, then Enter."""
    here = page.evaluate("document.activeElement.dataset.square")
    right, down = int(here[0]) - int(square[0]), ord(square[1]) - ord(here[1])
    keys = ["ArrowRight"] * right + ["ArrowLeft"] * -right + ["ArrowDown"] * down + ["ArrowUp"] * -down
    for key in [*keys, "Enter"]:
        page.keyboard.press(key)


def faults_of(page: Page) -> list[str]:
    """Return what is wrong with what is visible now."""
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    overflow = [f"{wide} pixels too wide"] if wide > 0 else []
    return [*overflow, *page.evaluate(CONTROLS), *page.evaluate(CONTRAST)]
