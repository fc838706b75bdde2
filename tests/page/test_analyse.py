"""The place Analyse in a browser, and positions set up by hand, against the program as it is started."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core_ext.board import Board
from tests.page.conftest import OpenPage, Start, walk_to
from tests.page.test_analysis_page import said
from tests.page.test_game import MATE_IN_ONE, SIZES, faults_everywhere, is_laid_out, move, new_game, status
from tests.records.common import RECORDS
from usi_engine import language
from usi_engine.play.library import load
from usi_engine.records.games import parse_record

GAME = RECORDS / "whole_game.kifu"


@pytest.fixture
def analyse(start: Start, open_page: OpenPage) -> Page:
    """The page without a game."""
    return open_page(start(command="analyze", options=()))


def play(page: Page, usi: str) -> None:
    move(page, usi, "#analyseBoard")
    expect(page.locator(f'#analyseBoard [data-square="{usi[2:4]}"]')).to_have_class(re.compile("sb-last"))


def check_board(page: Page, sfen: str) -> None:
    """Wait until the board shows this position."""
    squares = page.locator("#analyseBoard .sb-square")
    expect(squares.nth(80)).to_have_attribute("aria-label", said(sfen)[80])
    labels = squares.evaluate_all("all => all.map(one => one.getAttribute('aria-label').split(',')[0])")
    assert labels == said(sfen)


def tree(page: Page) -> list[str]:
    return page.locator("#tree .chip").all_text_contents()


def current(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator("#tree [aria-current]")).to_have_text(text)


def test_moves_and_variations(analyse: Page) -> None:
    """Moves make a tree, which can be walked, commented, promoted and cut."""
    page = analyse
    for usi in ("7g7f", "3c3d", "2g2f"):
        play(page, usi)
    page.keyboard.press("ArrowLeft")
    current(page, "2 ☖P-3d")
    play(page, "6g6f")
    assert tree(page) == ["1 ☗P-7f", "2 ☖P-3d", "3 ☗P-2f", "3 ☗P-6f"]
    expect(page.locator("#tree .variation .chip")).to_have_text("3 ☗P-6f")
    page.get_by_label("Comment").fill("solid")
    page.get_by_label("Comment").press("Tab")
    expect(page.locator("#tree .treeComment")).to_have_text("solid")
    page.get_by_role("button", name="Make it the main line").click()
    expect(page.locator("#tree .variation .chip")).to_have_text("3 ☗P-2f")
    check_board(page, Board.from_moves(["7g7f", "3c3d", "6g6f"]).sfen())
    page.locator("#tree .chip").first.click()
    page.get_by_role("button", name="Delete from here").click()
    page.locator("#yes").click()
    expect(page.locator("#tree .chip")).to_have_count(0)
    check_board(page, Board().sfen())


def test_the_engine_evaluates_at_once(analyse: Page) -> None:
    """Its lines are arrows and moves to click; it can be turned off, and rests while another place is shown."""
    page = analyse
    expect(page.locator("#engineLines .line")).to_have_count(1, timeout=20_000)
    page.get_by_label("Lines").select_option("3")
    expect(page.locator("#engineLines .line")).to_have_count(3, timeout=20_000)
    expect(page.locator("#analyseBoard .sb-arrow")).to_have_count(3)
    before = page.locator("#depth").text_content()
    expect(page.locator("#depth")).not_to_have_text(before or "", timeout=20_000)
    page.locator("#engineLines .line").first.locator(".chip").nth(1).click()
    expect(page.locator("#tree .chip")).to_have_count(2)
    page.get_by_role("button", name="Engine").click()
    expect(page.locator("#engineLines .line")).to_have_count(0)
    expect(page.locator("#analyseBoard .sb-arrow")).to_have_count(0)


def test_records(analyse: Page, tmp_path: Path) -> None:
    """A pasted record, a file in Shift-JIS and each format saved and loaded again; a fault is said."""
    page = analyse
    page.locator("summary").get_by_text("Load, save").click()
    page.locator("#loadText").fill("no record")
    page.get_by_role("button", name="Load the text").click()
    expect(page.locator("#analyseMessage")).to_be_visible()
    moves = list(load(RECORDS / "game.kif").moves)
    page.locator("#loadFile").set_input_files(RECORDS / "game.kif")
    expect(page.locator("#tree .chip")).to_have_count(len(moves))
    for kind in ("kif", "ki2", "csa", "jkf", "usi"):
        page.locator("#format").select_option(kind)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save", exact=True).click()
        text = Path(saved.value.path()).read_text(encoding="utf-8")
        assert list(parse_record(text).moves) == moves
        page.locator("#loadText").fill(text)
        page.get_by_role("button", name="Load the text").click()
        page.locator("#yes").click()
        expect(page.locator("#loadText")).to_have_value("")
        expect(page.locator("#tree .chip")).to_have_count(len(moves))


def test_the_whole_game(start: Start, open_page: OpenPage) -> None:
    """Grades and graph fill while it is analysed; then there is the page."""
    page = open_page(start(str(GAME), command="analyze", options=()))
    page.get_by_label("Lines").select_option("2")
    page.get_by_role("button", name="Analyse the whole game").click()
    expect(page.locator("#graph .curve")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.locator('#analyseBoard [data-square="7g"]').click()
    said = page.locator("#wholeText").text_content() or ""
    expect(page.locator("#wholeText")).not_to_have_text(said, timeout=30_000)
    expect(page.locator('#analyseBoard [data-square="7g"]')).to_have_class(re.compile("sb-source"))
    bad = page.locator("#tree .chip.mistake, #tree .chip.dubious, #tree .chip.inaccuracy, #tree .chip.blunder")
    expect(bad.first).to_be_visible(timeout=90_000)
    bad.first.click()
    expect(page.locator("#analyseNow .mark")).to_be_visible(timeout=20_000)
    expect(page.locator("#engineLines .line")).to_have_count(2, timeout=20_000)
    expect(page.locator("#analyseBoard .sb-arrow")).to_have_count(1)  # the better move, not two replies
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Analyse the whole game")).to_be_visible()
    chips = page.locator("#analyseNow .line", has_text="Better").locator(".chip")
    second = chips.nth(1).text_content() or ""
    chips.nth(1).click()
    expect(page.locator("#tree .variation .chip").nth(1)).to_have_text(re.compile(f" {re.escape(second)}$"))
    expect(page.locator("#tree .variation .chip").nth(1)).to_have_attribute("aria-current", "true")


def test_layout(start: Start, open_page: OpenPage) -> None:
    """The board takes the window and is in sight at each size, with the last move."""
    page = open_page(start(str(GAME), command="analyze", options=()))
    page.get_by_role("button", name="Engine").click()
    page.keyboard.press("End")
    current(page, re.compile("^91 "))
    assert all(is_laid_out(page, "#analyseBoard", *size) for size in SIZES)


def test_play_on(analyse: Page) -> None:
    """A game against a level from the position on the board."""
    page = analyse
    play(page, "7g7f")
    page.locator("summary").get_by_text("Load, save").click()
    page.locator("#playLevel").fill("0")
    page.get_by_role("button", name="Play on from here").click()
    expect(page.locator("#status")).to_have_text("Your move")
    expect(page.locator("#moveList button")).to_have_count(1)


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_looks(start: Start, open_page: OpenPage, lang: str) -> None:
    page = open_page(start(str(RECORDS / "variations.kifu"), "--lang", lang, command="analyze", options=()))
    expect(page.locator("#engineLines .line")).to_have_count(1, timeout=20_000)
    page.locator("#engineOn").click()
    page.locator("#analyse summary").click()
    expect(page.locator("#engineLines .line")).to_have_count(0)
    assert faults_everywhere(page) == []


# ---- a position set up by hand ----


@pytest.fixture
def setup(start: Start, open_page: OpenPage) -> Page:
    """The empty board, opened from the form of a new game."""
    page = open_page(start())
    page.locator("#terms summary").click()
    page.locator("#terms .setUp").click()
    expect(page.locator('#setup [data-square="7g"]')).to_have_attribute("aria-label", "7g Black pawn")
    page.get_by_label("Begin with").select_option("Empty board")
    expect(page.locator("#setupFault")).to_have_text("no king")
    return page


def place(page: Page, name: str) -> str:
    return f"#setup [data-{'square' if name[0].isdigit() else 'hand'}='{name}']"


def put(page: Page, way: str, piece: str, to: str) -> None:
    """Put a piece of the box somewhere."""
    if way == "drag":
        page.drag_and_drop(place(page, f"{piece}-"), place(page, to))
    elif way == "mouse":
        page.locator(place(page, f"{piece}-")).click()
        page.locator(place(page, to)).click()
    elif to[1] == "*":
        page.locator(place(page, f"{piece}-")).press("Enter")
        page.locator(place(page, to)).press("Enter")
    else:
        page.locator(place(page, to)).press("k" if to == "5a" else piece)


def check(page: Page, sfen: str) -> None:
    """Wait until the board of the dialog shows this position."""
    labels = page.locator("#setup .sb-square")
    for index, text in enumerate(said(sfen)):
        expect(labels.nth(index)).to_have_attribute("aria-label", text)


@pytest.mark.parametrize("way", ["mouse", "drag", "keyboard"])
def test_a_mate_problem(setup: Page, way: str) -> None:
    """Set up from an empty board, then played."""
    page = setup
    for piece, to in (("K", "5i"), ("K", "5a"), ("P", "5c"), ("G", "G*")):
        put(page, way, piece, to)
    page.get_by_role("button", name="Box to White's hand").click()
    check(page, MATE_IN_ONE)
    expect(page.locator(place(page, "p*"))).to_have_attribute("aria-label", "White pawn, 17 in hand")
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator("#start")).to_have_value(MATE_IN_ONE)
    new_game(page, sideChosen="both")
    expect(page.locator("#terms")).to_be_hidden()
    move(page, "G*5b")
    status(page, "^Black wins: the king is mated")


def test_pieces_turn_over_and_go_back(setup: Page) -> None:
    """A piece that is chosen twice is promoted, then changes sides; a piece that is taken goes into the box."""
    page = setup
    page.get_by_label("Begin with").select_option("No handicap")
    rook = page.locator(place(page, "2h"))
    for text in ("Black dragon", "White rook", "White dragon", "Black rook", "Black dragon"):
        rook.dblclick()
        expect(page.locator("#setupSaid")).to_have_text(f"2h {text}")
    page.locator(place(page, "2i")).click()
    expect(page.locator("#setupSaid")).to_have_text("Black knight, chosen")
    page.keyboard.press("Escape")
    rook.click()
    page.locator(place(page, "2c")).click()
    expect(page.locator(place(page, "P-"))).to_have_attribute("aria-label", "pawn, 1 in the box")
    page.locator(place(page, "8h")).focus()
    walk_to(page, "7g")
    page.keyboard.press("Delete")
    expect(page.locator(place(page, "P-"))).to_have_attribute("aria-label", "pawn, 2 in the box")
    page.locator(place(page, "8h")).focus()
    page.keyboard.press("+")
    page.get_by_label("Side to move").select_option("White to move")
    expect(page.locator("#setup .sb-to-move")).to_contain_text("White")
    page.get_by_role("button", name="Play from here").click()
    sfen = "lnsgkgsnl/1r5b1/ppppppp+Rp/9/9/9/PP1PPPPPP/1+B7/LNSGKGSNL w - 1"
    expect(page.locator("#start")).to_have_value(sfen)


@pytest.mark.parametrize("square, piece, fault", [
    ("5d", "P", "two pawns on file 5"), ("9a", "L", "'L' on '9a' can never move"), ("1h", "n", "'n' on '1h' can never"),
    ("5b", "G", "the side to move could capture the king"), ("5a", "Delete", "White has no king"),
    ("5a", "+", "two kings of one colour"),
])  # fmt: skip
def test_faults(setup: Page, square: str, piece: str, fault: str) -> None:
    """The program says why a position cannot be played, and takes no such one."""
    page = setup
    for typed, to in (("k", "5a"), ("P", "5c"), ("K", "5i")):
        page.locator(place(page, to)).press(typed)
    expect(page.get_by_role("button", name="Play from here")).to_be_enabled()
    page.locator(place(page, square)).press(piece)
    expect(page.locator("#setupFault")).to_contain_text(fault)
    for name in ("Play from here", "Analyse from here"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_analyse_from_here(start: Start, open_page: OpenPage, lang: str) -> None:
    """Opened from Analyse with its position; looks."""
    page = open_page(start("--lang", lang))
    page.keyboard.press("Escape")
    page.goto(page.url.split("#")[0] + "#analyse")
    page.locator("#analyse summary").click()
    page.locator("#analyse .setUp").click()
    page.locator(place(page, "5a")).press("Delete")
    expect(page.locator("#setupFault")).to_have_text({"en": "White has no king", "ja": "後手の玉がありません"}[lang])
    assert faults_everywhere(page) == []
    page.locator(place(page, "5b")).press("k")
    page.locator("#setupAnalyse").click()
    expect(page.locator("#setup")).to_be_hidden()
    expect(page.locator('#analyseBoard [data-square="5b"] .sb-piece')).to_be_visible()
    expect(page.locator('#analyseBoard [data-square="5a"] .sb-piece')).to_have_count(0)
