"""The game in the browser, played in a browser against the program as it is started."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.checks import faults_of, walk_to
from tests.page.conftest import THEMES, WIDTHS, OpenPage
from tests.programs import ROOT
from usi_engine import language
from usi_engine.play.record import load

# A mate in seven plies, with a promotion and a drop.
WHOLE_GAME = ["7g7f", "4a4b", "8h3c+", "6a7b", "3c4b", "5a6b", "G*5b"]

Start = Callable[..., str]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts the program with these words; returns the address of its page."""
    running = list[subprocess.Popen[str]]()

    def started(*words: str) -> str:
        options = ["--browser", "--no-open", "--eval", "material", "--level", "0", "--seconds", "0.02"]
        program = [sys.executable, "-m", "usi_engine", "play", *options, *words]
        running.append(subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=ROOT))
        output = running[-1].stdout
        assert output is not None
        address = re.search(r"http://[\w.:/-]+", output.readline())
        assert address
        return address[0]

    yield started
    for one in running:
        one.terminate()
        one.communicate(timeout=20)


def move(page: Page, usi: str) -> None:
    """Make a move by clicks; answer whether the piece promotes."""
    source = f'[data-hand="{usi[:2]}"]' if usi[1] == "*" else f'[data-square="{usi[:2]}"]'
    page.locator(source).click()
    page.locator(f'[data-square="{usi[2:4]}"]').click()
    if page.locator(".sb-question").is_visible():
        page.locator(".sb-question button").nth(0 if usi.endswith("+") else 1).click()


def move_by_keyboard(page: Page, usi: str) -> None:
    """Make a move of the side below by arrow keys and Enter."""
    page.locator('.sb-square[tabindex="0"]').focus()
    walk_to(page, usi[:2])
    walk_to(page, usi[2:4])


def play(page: Page, moves: list[str], before: int = 0) -> None:
    """Make moves of both sides; the first one by keyboard."""
    for ply, usi in enumerate(moves, before + 1):
        (move_by_keyboard if ply == 1 else move)(page, usi)
        expect(page.locator("#moveList button")).to_have_count(ply)


def status(page: Page, text: str) -> None:
    """Wait until the status is this text."""
    expect(page.locator("#status")).to_have_text(re.compile(text), timeout=20_000)


def test_a_whole_game(start: Start, open_page: OpenPage, tmp_path: Path) -> None:
    """Two people, from the form to the analysis of the mate."""
    page = open_page(start())
    page.get_by_label("You play").select_option("both")
    page.get_by_label("Clock").select_option("5 minutes + 5 s a move")
    page.get_by_role("button", name="Start the game").click()
    play(page, WHOLE_GAME[:3])
    page.reload()
    page.drag_and_drop('[data-square="6a"]', '[data-square="7b"]')
    expect(page.locator("#moveList button")).to_have_count(4)
    play(page, WHOLE_GAME[4:], before=4)
    status(page, "^Black wins: the king is mated")
    expect(page.locator(".sb-note")).to_have_text([re.compile("^5:")] * 2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as KIF").click()
    download.value.save_as(tmp_path / "game.kif")
    assert load(tmp_path / "game.kif").root.last().moves() == WHOLE_GAME
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open the analysis").click(timeout=20_000)
    expect(popup.value.locator(".move")).to_have_count(1 + len(WHOLE_GAME))


def test_a_game_against_the_engine(start: Start, open_page: OpenPage) -> None:
    """Two pages: what one does, the other shows."""
    address = start("--level", "3")
    page, other = open_page(address), open_page(address, has_touch=True)
    expect(page.locator("#levelShown")).to_have_text("3")
    page.get_by_label("Level", exact=True).press("ArrowRight")
    page.get_by_label("You play").select_option("white")
    page.get_by_role("button", name="Start the game").click()
    status(other, "^Your move")
    expect(other.locator("#moveList button")).to_have_count(1)
    expect(other.locator(".sb-name b")).to_have_text(["☗ Komadori level 4", "☖ Player"])
    other.locator('[data-square="3c"]').tap()
    other.locator('[data-square="3d"]').tap()
    expect(page.locator("#moveList button")).to_have_count(3)
    page.get_by_role("button", name="Hint").click()
    status(other, "^Hint: ☖")
    expect(other.locator(".sb-arrow-hint")).to_have_count(1)
    other.get_by_role("button", name="Take back").tap()
    expect(page.locator("#moveList button")).to_have_count(1)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Cancel").click()
    status(other, "^Your move")
    page.get_by_role("button", name="Resign").click()
    page.locator("#yes").click()
    status(other, "^You lose")
    expect(other.locator("#detail")).to_have_text("Black wins by resignation.")
    page.get_by_role("button", name="New game").click()
    page.keyboard.press("Escape")
    expect(page.locator("#terms")).to_be_hidden()


def test_earlier_positions(start: Start, open_page: OpenPage) -> None:
    """The keyboard and the list show them; the next move brings the present one back."""
    page = open_page(start("--side", "both", "startpos", "moves", *WHOLE_GAME[:4]))
    page.keyboard.press("Home")
    status(page, "^After move 0 of 4")
    expect(page.locator('[data-square="7g"]')).to_have_attribute("aria-label", "7g Black pawn")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#moveList [aria-current]")).to_have_text(re.compile("^1 "))
    page.locator("#moveList button").nth(2).click()
    status(page, "^After move 3 of 4")
    page.get_by_role("button", name="Back to the game").click()
    status(page, "^Black to move")


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_looks(start: Start, open_page: OpenPage, lang: str) -> None:
    """The form, the game, its end, at all widths and in both themes."""
    page = open_page(start("--lang", lang, "--side", "both", "--byoyomi", "30"))
    assert page.locator("html").get_attribute("lang") == lang
    assert faults_everywhere(page) == []
    page.locator("#terms button[type=submit]").click()
    play(page, WHOLE_GAME[:-1])
    assert faults_everywhere(page) == []
    play(page, WHOLE_GAME[-1:], before=len(WHOLE_GAME) - 1)
    expect(page.locator("#open")).to_be_visible(timeout=20_000)
    assert faults_everywhere(page) == []


def faults_everywhere(page: Page) -> list[str]:
    """Return what is wrong at any width in any theme."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            found += [f"{width} {theme}: {fault}" for fault in faults_of(page)]
    return found
