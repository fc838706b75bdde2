"""The analysis page in a browser."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from core_ext.board import Board
from tests.page.conftest import MATE_IN_THREE, SOLUTION, THEMES, WIDTHS, OpenPage, Theme, faults_of, walk_to

Pages = dict[str, str]
MOVES = 91
PIECES = {
    "K": "king", "R": "rook", "B": "bishop", "G": "gold", "S": "silver", "N": "knight", "L": "lance", "P": "pawn",
    "+R": "dragon", "+B": "horse", "+S": "promoted silver", "+N": "promoted knight", "+L": "promoted lance",
    "+P": "tokin",
}  # fmt: skip


def data_of(page: Page) -> Any:
    return json.loads(page.locator("#data").text_content() or "")


def shown(page: Page) -> list[str]:
    """What the squares of the board say, from 9a to 1i."""
    texts: list[str] = page.locator(".sb-square").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    return texts


def said(sfen: str) -> list[str]:
    """What the squares must say."""
    board, texts = Board(sfen), []
    for square in (f"{file}{rank}" for rank in "abcdefghi" for file in "987654321"):
        piece = board.piece_at(square)
        side = "Black" if piece and piece.isupper() else "White"
        texts.append(f"{square} {side} {PIECES[piece.upper()]}" if piece else f"{square} empty")
    return texts


def current(page: Page) -> str:
    return page.locator(".move[aria-current] .number").inner_text()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_looks(open_page: OpenPage, pages: Pages, theme: Theme, width: int) -> None:
    """The index and a game in both languages: a mistake, a line and a puzzle on the board."""
    page = open_page(pages["index en"], width, theme)
    assert faults_of(page) == []
    page.goto(pages["index ja"])
    assert faults_of(page) == []
    for lang in ("en", "ja"):
        page.goto(pages[f"game {lang}"])
        assert page.locator("html").get_attribute("lang") == lang
        for button in ("#controls .row button >> nth=1", "#now .chip >> nth=0", ".puzzle button >> nth=0"):
            page.locator(button).click()
            assert faults_of(page) == []


def test_every_move_by_keyboard(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["game en"])
    nodes = data_of(page)["nodes"]
    for ply in range(MOVES + 1):
        assert current(page) == str(ply)
        if ply % 10 == 0:
            assert shown(page) == said(nodes[ply]["sfen"])
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(f"#{MOVES}$"))
    page.keyboard.press("Home")
    assert current(page) == "0"
    page.keyboard.press("End")
    assert current(page) == str(MOVES)
    page.locator(".move[aria-current]").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".move[aria-current]")).to_be_focused()
    assert current(page) == str(MOVES - 1)


def swipe(page: Page, to_left: bool) -> None:
    """Swipe over the board with one finger."""
    page.locator(".sb-wood").scroll_into_view_if_needed()
    box = page.locator(".sb-wood").bounding_box()
    assert box
    finger, left, y = page.context.new_cdp_session(page), box["x"] + 100, box["y"] + 100
    places = [left + 100, left + 50, left] if to_left else [left, left + 50, left + 100]
    for kind, x in zip(("touchStart", "touchMove", "touchMove"), places, strict=True):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_every_move_by_touch(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["game en"], 390, has_touch=True, is_mobile=True)
    shown_ply = page.locator(".move[aria-current] .number")
    box = page.locator("#controls .step").nth(2).bounding_box()
    assert box
    for ply in range(MOVES + 1):
        expect(shown_ply).to_have_text(str(ply))
        page.touchscreen.tap(box["x"] + 20, box["y"] + 20)
    page.locator(".move").nth(30).tap()
    expect(shown_ply).to_have_text("30")
    swipe(page, to_left=True)
    expect(shown_ply).to_have_text("31")
    swipe(page, to_left=False)
    expect(shown_ply).to_have_text("30")


def test_address_opens_a_ply(open_page: OpenPage, pages: Pages) -> None:
    assert current(open_page(pages["game en"] + "#1.5x")) == "1"
    page = open_page(pages["game en"] + "#24")
    assert current(page) == "24"
    assert shown(page) == said(data_of(page)["nodes"][24]["sfen"])
    page.evaluate("location.hash = '#30'; history.replaceState(null, '', '#24')")  # as addressTimer may do
    expect(page.locator(".move[aria-current] .number")).to_have_text("30")


def test_mistakes_and_their_lines(open_page: OpenPage, pages: Pages) -> None:
    """The buttons and the graph go to mistakes; the better line and the refutation are played on the board."""
    page = open_page(pages["game en"])
    nodes = data_of(page)["nodes"]
    bad = [ply for ply, node in enumerate(nodes) if node["grade"] and node["grade"] != "inaccuracy"]
    page.get_by_role("button", name="Next mistake").click()
    assert current(page) == str(bad[0])
    page.locator("#graph a").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".move[aria-current] .number")).to_have_text(str(bad[1]))
    page.keyboard.press("p")
    assert current(page) == str(bad[0])
    node = nodes[bad[0]]
    for kind, before in (("Better", nodes[bad[0] - 1]), ("Refutation", node)):
        line = next(line for line in node["lines"] if line["kind"] == kind.lower())
        page.locator(".line", has_text=kind).locator(".chip").nth(1).click()
        assert shown(page) == said(Board.from_moves(line["moves"][:2], before["sfen"]).sfen())
        expect(page.locator("#banner")).to_contain_text(f"{kind}, move 2 of {len(line['moves'])}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#banner")).to_be_hidden()
    assert shown(page) == said(node["sfen"])
    counted = page.locator("#summary button.mistake").first
    counted.click()
    assert nodes[int(current(page))]["grade"] == "mistake"


def test_arrows_turning_and_letters(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["game en"])
    assert page.locator(".sb-arrow-best").count() == 1
    assert page.locator(".sb-arrow-hint").count() == 1
    page.get_by_role("button", name="Turn the board").click()
    assert shown(page) == list(reversed(said(data_of(page)["nodes"][0]["sfen"])))
    assert page.locator("[data-square='5i'] text").text_content() == "玉"
    for text in ("玉将", "K"):
        page.get_by_role("button", name="Letters or kanji").click()
        assert "".join(page.locator("[data-square='5i'] text").all_text_contents()) == text


def test_record_and_variations(open_page: OpenPage, pages: Pages) -> None:
    """Long names do not make the page wider."""
    page = open_page(pages["variations en"], 390)
    assert faults_of(page) == []
    nodes = data_of(page)["nodes"]
    expect(page.locator("#now .comment")).to_have_text("開始局面")
    page.locator(".variation .chip", has_text="S").first.click()  # the second move of 3 Bx2b+ Sx2b
    first = next(node for node in nodes if node["parent"] == 2 and not node["main"])
    assert shown(page) == said(nodes[first["id"] + 1]["sfen"])
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#now .comment")).to_have_text("角交換")
    page.keyboard.press("ArrowLeft")
    assert (current(page), shown(page)) == ("2", said(nodes[2]["sfen"]))
    expect(page.locator(".sb-bottom .sb-note")).to_have_text("0:01")
    for variation in page.locator(".variation").all():  # all of them can be played to their end
        variation.locator(".chip").last.click()
        assert page.locator(".chip[aria-current]").count() == 1


def test_copies_and_saves(open_page: OpenPage, pages: Pages) -> None:
    address = pages["game en"] + "#2"
    page = open_page(address, permissions=["clipboard-read", "clipboard-write"])
    data = data_of(page)
    for name, text in (("Copy SFEN", data["nodes"][2]["sfen"]), ("Copy KIF", data["kif"]), ("Copy link", address)):
        page.get_by_role("button", name=name).click()
        expect(page.locator("#record .status")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == text
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save KIF").click()
    assert saved.value.suggested_filename == "駒鳥-太郎.kif"
    assert Path(saved.value.path()).read_text(encoding="utf-8") == data["kif"]


# ---- puzzles ----


def solve_by_clicks(page: Page, move: str, tap: bool = False) -> None:
    for square in (move[:2], move[2:4]):
        place = page.locator(f"[data-square='{square}']")
        place.tap() if tap else place.click()


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard", "drag"])
def test_puzzle(open_page: OpenPage, pages: Pages, way: str) -> None:
    """A wrong move is refused; the solution is accepted, with the reply of the page in between."""
    page = open_page(pages["game en"], has_touch=way == "touch")
    page.get_by_role("button", name="Puzzle 1").click()
    page.locator("[data-square='5e']").focus()

    def play(move: str) -> None:
        if way == "keyboard":
            walk_to(page, move[:2])
            walk_to(page, move[2:4])
        elif way == "drag":
            page.drag_and_drop(f"[data-square='{move[:2]}']", f"[data-square='{move[2:4]}']")
        else:
            solve_by_clicks(page, move, way == "touch")

    status = page.locator("#now .status")
    play("2f2e")
    expect(status).to_have_text("That is not the solution. Try again.")
    assert shown(page) == said(MATE_IN_THREE)
    play("3c2d")
    question = page.get_by_role("dialog", name="Promote?")
    expect(question.get_by_role("button", name="Promote", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(status).to_have_text("Correct. Go on.")
    expect(page.locator("[data-square='1e']")).to_have_attribute("aria-label", "1e White king")
    play("2d2e")
    expect(status).to_have_text("Correct.")
    expect(page.locator("#now")).to_contain_text("Solution: ☗")
    page.keyboard.press("Escape")
    assert current(page) == "50"
    assert shown(page) == said(data_of(page)["nodes"][50]["sfen"])


def test_help_with_a_puzzle(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["game en"])
    page.get_by_role("button", name="Puzzle 1").click()
    expect(page.locator("[data-square='1d']")).to_have_class(re.compile("sb-last"))  # the move before it
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".sb-arrow-hint circle")).to_have_count(1)
    expect(page.locator(".sb-source")).to_have_count(0)
    page.get_by_role("button", name="Show the solution").click()
    expect(page.locator("[data-square='2e']")).to_have_attribute("aria-label", "2e Black promoted silver")
    page.get_by_role("button", name="Close the puzzle").click()
    assert current(page) == "50"


def test_a_puzzle_that_is_left(open_page: OpenPage, pages: Pages) -> None:
    """Its reply comes no more when it begins again, and a move of the game closes it."""
    page = open_page(pages["game en"])
    for _ in range(2):
        page.get_by_role("button", name="Puzzle 1").click()
        solve_by_clicks(page, SOLUTION[0][:4])
        page.keyboard.press("Enter")
        expect(page.locator("#now .status")).to_have_text("Correct. Go on.")
        page.get_by_role("button", name="Puzzle 1").click()
        page.wait_for_timeout(800)
        assert shown(page) == said(MATE_IN_THREE)
    page.locator("#moves .move").nth(10).click()
    assert (current(page), shown(page)) == ("10", said(data_of(page)["nodes"][10]["sfen"]))
    page.keyboard.press("ArrowRight")
    assert current(page) == "11"


# ---- the index ----


def test_index(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["index en"])
    games = page.locator("#cards li")
    assert games.count() == 2
    page.locator("input").fill("試験対局")
    assert [one.is_visible() for one in games.all()] == [True, False]
    page.locator("input").fill("no such game")
    assert not any(one.is_visible() for one in games.all())
    page.locator("input").fill("")
    games.first.locator("a").click()
    assert re.search(r"/game\.html(#0)?$", unquote(page.url))
    expect(page.locator("#title")).to_have_text("☗ 駒鳥 - ☖ 太郎")
