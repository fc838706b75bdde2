"""The places Play and My games, in a browser that is connected to the program as it is started."""

import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core_ext.board import Board
from tests.page.conftest import THEMES, WIDTHS, OpenPage, Start, faults_of, walk_to
from usi_engine import language
from usi_engine.play.library import load

# A mate in seven plies, with a promotion and a drop.
SIZES = ((1920, 1080), (1366, 768), (1280, 900), (844, 390), (390, 844))
# Keeps the frequencies of all tones.
TONES = """window.tones = []; const make = AudioContext.prototype.createOscillator;
AudioContext.prototype.createOscillator = function() {
  const made = make.call(this);
  queueMicrotask(() => tones.push(made.frequency.value));
  return made;
};"""
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"
WHOLE_GAME = ["7g7f", "4a4b", "8h3c+", "6a7b", "3c4b", "5a6b", "G*5b"]


def move(page: Page, usi: str, on: str = "#board") -> None:
    """Make a move by clicks; answer whether the piece promotes."""
    board, name = page.locator(on), "hand" if usi[1] == "*" else "square"
    board.locator(f'[data-{name}="{usi[:2]}"]').click()
    board.locator(f'[data-square="{usi[2:4]}"]').click()
    if board.locator(".sb-question").is_visible():
        board.locator(".sb-question button").nth(0 if usi.endswith("+") else 1).click()


def move_by_keyboard(page: Page, usi: str) -> None:
    """Make a move of the side below by arrow keys and Enter."""
    page.locator('.sb-square[tabindex="0"]').focus()
    walk_to(page, usi[:2])
    walk_to(page, usi[2:4])


def play(page: Page, moves: list[str], before: int = 0) -> None:
    """Make moves of both sides; the first one by keyboard."""
    expect(page.locator("#terms")).to_be_hidden()
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
    page.get_by_role("button", name="Open the analysis").click()
    expect(page.locator("#tree .chip")).to_have_count(len(WHOLE_GAME))
    with page.expect_popup(timeout=60_000) as popup:
        page.get_by_role("link", name="Summary and puzzles").click(timeout=60_000)
    expect(popup.value.locator(".move")).to_have_count(1 + len(WHOLE_GAME))
    page.get_by_label("Comment").fill("mine")
    page.get_by_label("Comment").press("Tab")
    page.get_by_role("link", name="Play").click()
    page.get_by_role("button", name="Open the analysis").click()
    expect(page.locator("#tree .treeComment")).to_have_text("mine")  # it is not analysed twice


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


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_looks(start: Start, open_page: OpenPage, lang: str) -> None:
    """The form, the game, its end, at all widths and in both themes."""
    page = open_page(start("--lang", lang, "--side", "both", "--byoyomi", "30"))
    assert page.locator("html").get_attribute("lang") == lang
    assert faults_everywhere(page) == []
    page.locator("#terms button[type=submit]").click()
    expect(page.locator("#terms")).to_be_hidden()  # it takes the focus back
    play(page, WHOLE_GAME[:-1])
    assert faults_everywhere(page) == []
    play(page, WHOLE_GAME[-1:], before=len(WHOLE_GAME) - 1)
    expect(page.locator("#analysis")).to_be_visible()
    assert faults_everywhere(page) == []


def faults_everywhere(page: Page) -> list[str]:
    """Return what is wrong at any width in any theme."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # the board fits
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            found += [f"{width} {theme}: {fault}" for fault in faults_of(page)]
    return found


def new_game(page: Page, **choices: str) -> None:
    """Fill in the form of a new game, by the names of its elements, and start it."""
    if not page.locator("#terms").is_visible():
        page.locator("#newGame").click()
    for name, value in choices.items():
        chosen = page.locator(f"#{name}")
        chosen.select_option(value) if name in ("sideChosen", "handicap", "preset") else chosen.fill(value)
    page.locator("#terms button[type=submit]").click()


def in_sight(page: Page, selector: str) -> bool:
    """Return whether an element lies within the window and within the list of moves."""
    script = """one => {
      const own = one.getBoundingClientRect(), list = one.closest("ol");
      const window = new DOMRect(0, 0, innerWidth, innerHeight);
      return [window, list ? list.getBoundingClientRect() : window].every(box => own.top > box.top - 3
        && own.bottom < box.bottom + 3 && own.left > box.left - 3 && own.right < box.right + 3);
    }"""
    return bool(page.locator(selector).first.evaluate(script))


def a_long_game(plies: int) -> list[str]:
    """Return the moves of a game that goes on."""
    board, chance = Board(), random.Random(1)
    while len(board.moves()) < plies:
        moves = board.legal_moves(include_all=True)
        board.push(chance.choice(moves)) if moves else board.pop()
        if board.outcome():
            board.pop()
    return board.moves()


def is_laid_out(page: Page, board: str, width: int, height: int, *parts: str) -> bool:
    """Check in a window of this size that the board takes it, that parts are in sight, and that all looks right."""
    page.set_viewport_size({"width": width, "height": height})
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    wood = page.locator(f"{board} .sb-wood").bounding_box()
    assert wood and wood["height"] > (0.45 if width < height else 0.83) * height - 36, (width, wood)
    for part in (*(f"{board} {own}" for own in (".sb-wood", ".sb-top", ".sb-bottom", ".sb-last")), *parts):
        assert in_sight(page, part), (width, part)
    return faults_of(page) == []


def test_layout(start: Start, open_page: OpenPage) -> None:
    """The board takes the window; it, the last move and the current row are in sight at each size."""
    page = open_page(start("--side", "both", "--minutes", "10", "startpos", "moves", *a_long_game(120)))
    for width, height in SIZES:
        assert is_laid_out(page, "#board", width, height, "#moveList [aria-current]", "#status")
        assert width < height or page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


def test_a_killed_program_loses_nothing(
    start: Start, running: list[subprocess.Popen[str]], open_page: OpenPage
) -> None:
    """`--resume` goes on with moves, names and clock; My games lists the game, and a new one leaves it there."""
    page = open_page(start())
    new_game(page, sideChosen="both", preset="5 minutes + 5 s a move", name="羽生", otherName="<b>")
    play(page, WHOLE_GAME[:3])
    page.goto("about:blank")
    running[0].kill()
    page = open_page(start("--resume"))
    expect(page.locator("#moveList button")).to_have_count(3)
    expect(page.locator(".sb-name b")).to_have_text(["☖ <b>", "☗ 羽生"])
    expect(page.locator(".sb-note")).to_have_text([re.compile("^5:")] * 2)
    play(page, WHOLE_GAME[3:4], before=3)
    new_game(page, sideChosen="both", preset="No clock", name="", otherName="")
    play(page, WHOLE_GAME[:1])
    page.get_by_role("link", name="My games").click()
    expect(page.locator("#cards h2")).to_have_text(["☗ Player - ☖ Player", "☗ 羽生 - ☖ <b>"])
    expect(page.locator("#cards .soft")).to_have_text([re.compile("1 moves · not finished"), re.compile("4 moves")])
    assert faults_everywhere(page) == []
    page.get_by_role("button", name="Delete").first.click()
    page.locator("#yes").click()
    expect(page.locator("#cards li")).to_have_count(1)
    page.get_by_role("button", name="Play on").click()
    play(page, WHOLE_GAME[4:5], before=4)


def test_a_thousand_moves(start: Start, open_page: OpenPage) -> None:
    """A move is shown within two seconds; the list has all of them."""
    page = open_page(start("--side", "both", "startpos", "moves", *a_long_game(1000)))
    expect(page.locator("#moveList button")).to_have_count(1000, timeout=20_000)
    begun = time.monotonic()
    page.locator(".sb-movable").first.click()
    page.locator(".sb-target").first.click()
    if page.locator(".sb-question").is_visible():
        page.locator(".sb-question button").first.click()
    expect(page.locator("#moveList button")).to_have_count(1001)
    assert time.monotonic() - begun < 5 and in_sight(page, "#moveList [aria-current]")


def test_a_reload_keeps_what_the_tab_shows(start: Start, open_page: OpenPage) -> None:
    """The board stays turned, at an earlier position; without terms the first move on the board begins the game."""
    page = open_page(start("--side", "white"))
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Begin").click()
    status(page, "^Your move")
    page = open_page(start("--side", "both"))
    page.get_by_role("button", name="Cancel").click()
    status(page, "^Make a move, or choose a new game")
    play(page, WHOLE_GAME[:2])
    page.get_by_role("button", name="Turn the board").click()
    page.keyboard.press("Home")
    page.reload()
    status(page, "^After move 0 of 2")
    assert page.locator(".sb-square").first.get_attribute("data-square") == "1i"
    for name in ("takeBack", "hint", "resign"):
        expect(page.locator(f"#{name}")).to_be_disabled()
    expect(page.locator("#detail")).to_have_text("Go back to the game to take back, resign or get a hint.")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#moveList [aria-current]")).to_have_text(re.compile("^1 "))
    page.get_by_role("button", name="Back to the game").click()
    status(page, "^Black to move")
    page.locator("#moveList button").first.click()
    status(page, "^After move 1 of 2")


def test_resignation_and_rematch(start: Start, open_page: OpenPage) -> None:
    """Only the resignation is taken back; sides change in the next game."""
    page = open_page(start("--side", "black", "startpos", "moves", *WHOLE_GAME[:2]))
    for _time in range(2):
        page.locator("#resign").click()
        page.locator("#yes").click()
        status(page, "^You lose")
        expect(page.locator("#moveList button")).to_have_count(2)
        if _time == 0:
            page.locator("#takeBack").click()
            status(page, "^Your move")
    page.locator("#rematch").click()
    status(page, "^Your move")
    expect(page.locator(".sb-name b")).to_have_text(["☗ Komadori level 0", "☖ Player"])


def test_start_positions(start: Start, open_page: OpenPage, tmp_path: Path) -> None:
    """An SFEN, a KIF; text that is neither is refused with its reason. The record has the game's times."""
    page = open_page(start())
    page.locator("#terms summary").click()
    new_game(page, sideChosen="both", start="no game")
    expect(page.locator("#termsFault")).to_contain_text("not a game record")
    new_game(page, start=MATE_IN_ONE)
    move(page, "G*5b")
    status(page, "^Black wins: the king is mated")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as KIF").click()
    download.value.save_as(tmp_path / "game.kif")
    assert {"開始日時", "終了日時"} <= load(tmp_path / "game.kif").header.keys()
    page.locator("#newGame").click()
    page.locator("#start").fill((tmp_path / "game.kif").read_text("cp932").replace("詰み", "中断"))
    page.locator("#terms button[type=submit]").click()
    expect(page.locator("#moveList button")).to_have_text(["1 ☗G*5b"])


def test_times_and_their_warnings(start: Start, open_page: OpenPage) -> None:
    """Each side has its own time. Byoyomi is said in words; the last ten seconds are red and beep."""
    page = open_page(start())
    page.add_init_script(TONES)
    page.reload()
    page.locator("#sideChosen").select_option("both")
    page.locator("#preset").select_option("Other times")
    for name, value in (("minutes0", "0.02"), ("byoyomi0", "11"), ("minutes1", "3")):
        page.locator(f"#times [name={name}]").fill(value)
    page.locator("#terms button[type=submit]").click()
    expect(page.locator(".sb-top .sb-note")).to_have_text("3:00")
    expect(page.locator("#spoken")).to_have_text("Byoyomi: 11 seconds a move")
    expect(page.locator(".sb-bottom .sb-low")).to_have_text(re.compile("^byoyomi [78]$"), timeout=10_000)
    play(page, WHOLE_GAME[:1])
    page.wait_for_timeout(100)
    tones = page.evaluate("tones")
    assert tones.count(1000) > 1 and tones[-1] != 1000  # the beeps, then the move


def test_sounds(start: Start, open_page: OpenPage) -> None:
    """Of a move, a capture, a check and the end; none if they are off."""
    page = open_page(start("--side", "both", "startpos"))
    page.add_init_script(TONES)
    page.reload()
    move, capture, check, end = [190, 900], [190, 900, 240], [190, 660, 880], [523, 659, 784]
    play(page, WHOLE_GAME)
    page.wait_for_timeout(100)
    assert page.evaluate("tones") == [*move, *move, *capture, *move, *check, *move, *end]
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("button", name="Sound off").click()
    expect(page.get_by_role("button", name="Sound on")).to_be_visible()
    play(page, WHOLE_GAME[-1:], before=len(WHOLE_GAME) - 1)
    page.wait_for_timeout(100)
    assert len(page.evaluate("tones")) == 17


def test_preferences_are_kept(start: Start, open_page: OpenPage) -> None:
    """Sound and pieces, on all pages and in the next game."""
    page = open_page(start("startpos"))
    other = open_page(page.url)
    page.get_by_role("button", name="Sound off").click()
    for text in ("玉将", "K"):
        page.locator("#pieces").click()
        for one in (page, other):
            expect(one.locator("[data-square='5i'] text")).to_have_text(list(text))
    expect(other.get_by_role("button", name="Sound on")).to_be_visible()
    page = open_page(start("startpos"))
    expect(page.get_by_role("button", name="Sound on")).to_be_visible()
    expect(page.locator("[data-square='5i'] text")).to_have_text("K")
