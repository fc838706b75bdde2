"""Draw pictures of the pages: python -m docs.figures.pages FOLDER. They need chromium and a font with kanji.

The page of an analysed game, and the places Play, Analyse and My games of the program's page, each in both languages
and themes and at three widths. The pictures that the READMEs show are in this folder: analysis.png and game.png.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from usi_engine.records.games import load_games

FOLDER = Path(__file__).resolve().parent
RECORD = FOLDER / "game.kifu"  # of two copies of the program, one of them with a tenth of the time
PROGRAM = [sys.executable, "-m", "usi_engine"]
LANGUAGES = ("en", "ja")
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (390, 768, 1280)
NODES = "100000"
PLIES = 46  # of the game in the browser


def analysed(folder: Path, lang: str) -> Path:
    """Analyse the game and return its page; a second run takes the kept results."""
    page = folder.resolve() / f"analysis-{lang}.html"
    options = ["--lang", lang, "--html", str(page), "--nodes", NODES, "--multipv", "3", "--puzzles"]
    subprocess.run([*PROGRAM, "analyze", str(RECORD), *options], check=True, stdout=subprocess.DEVNULL)
    return page


@contextmanager
def game_server(folder: Path, lang: str) -> Iterator[str]:
    """Continue the game in the browser, which keeps it in this folder, and return its address."""
    options = ["--browser", "--no-open", "--lang", lang, "--level", "5", "--minutes", "15", "--byoyomi", "30"]
    command = [*PROGRAM, "play", *options, "startpos", "moves", *next(load_games(RECORD)).moves[:PLIES]]
    environment = os.environ | {"KOMADORI_DATA": str(folder.resolve() / f"games-{lang}")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        try:
            found = re.search(r"http://[\w.:/-]+", process.stdout.readline())
            assert found
            yield found[0]
        finally:
            process.terminate()


def show_mistake(page: Page) -> None:
    """Go to the worst move of the game."""
    nodes = json.loads(page.locator("#data").text_content() or "")["nodes"]
    page.evaluate(f"location.hash = {max(nodes, key=lambda node: node['loss'])['ply']}")


def show_puzzle(page: Page) -> None:
    """Open the last puzzle and choose a piece."""
    page.locator(".puzzle button").last.click()
    page.locator("#now button").first.click()


def show_hint(page: Page) -> None:
    """Let the program show a hint, unless it does already."""
    page.locator(".sb-movable").first.wait_for()
    if not page.locator(".sb-arrow-hint").count():
        page.locator("#hint").click()
    page.locator(".sb-arrow-hint").wait_for()


def show_whole_game(page: Page) -> None:
    """Go to the first bad move of the record, which is analysed unless it was."""
    if not page.locator("#wholePage").is_visible():
        page.locator("#loadFile").set_input_files(RECORD)
        page.locator("#whole").click()
        page.locator("#wholePage").wait_for(timeout=600_000)
    page.locator("#tree :is(.dubious, .mistake, .blunder)").first.click()
    page.locator("#analyseNow .mark").wait_for()


def show_setup(page: Page) -> None:
    """Open the board on which a position is set up."""
    page.locator("#newGame").click()
    page.locator("#terms summary").click()
    page.locator("#terms .setUp").click()
    page.locator("#setup .sb-piece").first.wait_for()


def pictures(
    browser: Browser, address: str, name: str, lang: str, prepare: Callable[[Page], None]
) -> Iterator[tuple[str, bytes]]:
    """Yield the pictures of a page with their names; `prepare` brings it into the state to show."""
    for theme, width in product(THEMES, WIDTHS):
        page = browser.new_page(viewport={"width": width, "height": 860}, color_scheme=theme, reduced_motion="reduce")
        page.goto(address)
        prepare(page)
        yield f"{name}-{lang}-{theme}-{width}", page.screenshot(full_page=width < 1000)
        page.close()


def all_pictures(browser: Browser, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all pictures with their names."""
    for lang in LANGUAGES:
        address = analysed(folder, lang).as_uri()
        yield from pictures(browser, address, "analysis", lang, show_mistake)
        yield from pictures(browser, address, "puzzle", lang, show_puzzle)
        with game_server(folder, lang) as address:
            yield from pictures(browser, address, "game", lang, show_hint)
            yield from pictures(browser, f"{address}#games", "games", lang, lambda page: None)
            yield from pictures(browser, f"{address}#analyse", "analyse", lang, show_whole_game)
            yield from pictures(browser, address, "setup", lang, show_setup)


def small(picture: bytes) -> bytes:
    """Return a PNG of 256 colours, a quarter as large."""
    made = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return made.getvalue()


def main(folder: Path) -> None:
    """Write all pictures into the folder, and those of the READMEs beside this file."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program, "the pictures need chromium: apt-get install chromium"
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, picture in all_pictures(browser, folder):
            (folder / f"{name}.png").write_bytes(picture)
            if name.endswith("-en-light-1280") and name.startswith(("analysis", "game-")):
                (FOLDER / f"{name.split('-')[0]}.png").write_bytes(small(picture))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
