"""A position set up by hand, in a browser, from the places Play and Analyse."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.checks import walk_to
from tests.page.conftest import OpenPage, Start
from tests.page.test_analysis_page import said
from tests.page.test_game import MATE_IN_ONE, faults_everywhere, move, new_game, status
from usi_engine import language


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
