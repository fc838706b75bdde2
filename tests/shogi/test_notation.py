"""Moves as CSA, KIF and KI2 text, against rsshogi, and read back; the board as SVG; sfen."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from rsshogi.core import Board as Library
from rsshogi.core import Move
from rsshogi.record import Record

from core_ext.board import Board
from tests.positions import HANDS, MATSURI, MIDGAME, STARTS, described_rows, scenes, walk

# Two golds and a silver that can go to 5h, the silver with and without promotion on the other side.
GOLDS = "4k4/9/9/9/9/9/9/9/3GKGS2 b G 1"


@pytest.mark.parametrize("start", [HANDS, MATSURI, MIDGAME])
def test_csa_of_every_move_is_the_librarys(start: str) -> None:
    for position, *_ in walk(5, 10, start):
        board, library = Board(position.sfen()), Library(position.sfen())
        texts = [board.csa(move) for move in board.legal_moves(include_all=True)]
        moves = [Move.from_usi(move) for move in board.legal_moves(include_all=True)]
        assert texts == [library.move32_from_move(move).to_csa() for move in moves]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("seed", range(len(STARTS)))
def test_kif_of_a_game_is_the_librarys(seed: int) -> None:
    moves = [scene.played for scene in scenes(seed) if scene.played]
    board, texts = Board(STARTS[seed]), list[str]()
    for move in moves:
        texts.append(board.kif(move))
        board.push(move)
    record = Record.from_usi_main_line(STARTS[seed], moves).to_kif()
    assert texts == re.findall(r"^ +[0-9]+ (\S+(?:　\S+)?)", record, re.M)[: len(texts)]


@pytest.mark.parametrize("start", [HANDS, MATSURI, MIDGAME])
def test_every_text_is_read_back(start: str) -> None:
    board = Board(start)
    for *_, move in walk(6, 4, start):
        for legal in board.legal_moves(include_all=True):
            assert board.parse_csa(board.csa(legal)) == legal
            assert board.parse_kif(board.kif(legal)) == legal
            assert board.parse_ki2(board.ki2(legal)) == legal
        assert board.push_csa(board.csa(move)) == move == board.pop()
        assert board.push_ki2(board.ki2(move)) == move == board.pop()
        assert board.push_kif(board.kif(move)) == move == board.peek()


@pytest.mark.parametrize(("sfen", "texts", "move"), described_rows("kif_moves.jsonl"))
def test_kif_as_people_write_it(sfen: str, texts: list[str], move: str) -> None:
    assert {text: Board(sfen).parse_kif(text) for text in texts} == dict.fromkeys(texts, move)


def test_the_square_of_the_move_before() -> None:
    board = Board.from_moves(["7g7f", "3c3d", "8h2b+"])
    assert board.kif("3a2b") == "同　銀(31)"
    assert {board.parse_kif(text) for text in ("同　銀(31)", "同銀", "△同 銀", "２二銀(31)")} == {"3a2b"}


@pytest.mark.parametrize(
    ("parse", "reason", "texts"),
    [
        (Board.parse_csa, "not a CSA move", ["", "7g7f", "+7776FUx", "+７７76FU"]),
        (Board.parse_csa, "illegal move", ["+7775FU", "+7776TO", "-3334FU", "+7776XX"]),
        (Board.parse_kif, "not a KIF or KI2 move", ["", "7g7f", "７六歩(77)x", "０六歩", "▲７六歩x"]),
        (Board.parse_kif, "a move of the other side", ["△７六歩(77)", "△７六歩"]),
        (Board.parse_ki2, "illegal move", ["▲同歩", "７六歩打"]),
        (Board.parse_ki2, "ambiguous move", ["▲５八金"]),
        (Board.parse_kif, "illegal move", ["７六歩(76)", "７六歩成(77)", "７六と(77)", "７六歩打", "同　歩(77)"]),
    ],
)
def test_other_texts_are_refused(
    board: Board, parse: Callable[[Board, str], str], reason: str, texts: list[str]
) -> None:
    for text in texts:
        with pytest.raises(ValueError) as refusal:
            parse(board, text)
        assert reason in str(refusal.value) and f"'{text}'" in str(refusal.value)


def test_an_ambiguous_text_names_the_moves() -> None:
    with pytest.raises(ValueError, match=r"ambiguous move.*'５八金'"):
        Board(GOLDS).parse_kif("５八金")
    with pytest.raises(ValueError, match=r"'4i5h, 6i5h'|'6i5h, 4i5h'"):
        Board(GOLDS).push_kif("５八金")


def test_only_legal_moves_have_a_text(board: Board) -> None:
    for method in (board.csa, board.kif, board.ki2):
        with pytest.raises(ValueError, match="'7g7e'"):
            method("7g7e")


# ---- the board as SVG; its text is tested with the board's ----

SVG = "{http://www.w3.org/2000/svg}"
MARKED = 'fill="#f0b25a"'


def texts(board: Board) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(board.svg()).iter(f"{SVG}text"))


def pieces(board: Board) -> list[ElementTree.Element]:
    return [text for text in texts(board) if text.get("font-size") == "30"]


def test_every_piece_is_drawn() -> None:
    board = Board(MATSURI)
    assert len(pieces(board)) == len(board.piece_map())
    rotated = [text for text in pieces(board) if "rotate" in text.get("transform", "")]
    assert len(rotated) == sum(letters.islower() for letters in board.piece_map().values())
    assert [text.text for text in pieces(board) if text.get("class") == "promoted" and text.text] == ["と"]


def test_hands_are_drawn() -> None:
    shown = {text.text for text in texts(Board("4k4/9/9/9/9/9/9/9/4K4 b R12P2g 1"))}
    assert {"☗", "飛", "歩12", "☖", "金2"} <= shown


def test_the_last_move_is_marked(board: Board) -> None:
    assert board.svg() == board._repr_svg_()
    dropped = Board.from_moves(["P*5e"], "4k4/9/9/9/9/9/9/9/4K4 b P 1")
    moved = Board.from_moves(["7g7f"])
    assert [one.svg().count(MARKED) for one in (board, dropped, moved)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sfen", "place"),
    [
        ("9/9/9/9/4K4/9/9/9/9 b - 1", ("230", "206")),  # 5e, the middle of the board
        ("K8/9/9/9/9/9/9/9/9 b - 1", ("70", "46")),
        ("9/9/9/9/9/9/9/9/8K b - 1", ("390", "366")),
    ],
)
def test_a_piece_stands_on_its_square(sfen: str, place: tuple[str, str]) -> None:
    assert [(text.get("x"), text.get("y")) for text in pieces(Board(sfen))] == [place]


# ---- sfen ----


@pytest.mark.parametrize(("name", "text", "sfen"), described_rows("sfens.jsonl"))
def test_reading(name: str, text: str, sfen: str | None) -> None:
    """Each text is read as the sfen beside it, or refused."""
    if sfen is not None:
        assert Board(text).sfen() == sfen
        return
    board = Board(MATSURI)
    board.push(board.legal_moves()[0])
    before, moves = board.sfen(), board.moves()
    with pytest.raises(ValueError) as error:
        board.set_sfen(text)
    assert f"'{text.strip().removeprefix('sfen ')}'" in str(error.value) or name == "no text after its name"
    assert (board.sfen(), board.moves()) == (before, moves)
