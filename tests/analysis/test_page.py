"""Data of the analysis page and of the index; one file without a network; castles and openings."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core_ext.shogi.notation import FLIPPED, RANKS, flip_sfen
from tests.positions import described_rows
from tests.records.common import (
    QUICK,
    RECORDS,
    japanese,
    judged,
    mating,
    page_json,
    searched,
    three_moves,
    valued,
    with_values,
)
from usi_engine.analysis.analyze import main
from usi_engine.analysis.formations import Formation, find_formation, formation_headers, formations, name_formations
from usi_engine.analysis.judgement import GRADES
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import page_data, page_text
from usi_engine.analysis.terminal import format_lines
from usi_engine.core import load_core
from usi_engine.records.ends import End
from usi_engine.records.games import Game
from usi_engine.records.position import FULL_SET

pytestmark = pytest.mark.usefixtures("cache_folder")


def data_of(name: str, multipv: int = 1) -> Any:
    """The data of a game that is searched for a moment."""
    return json.loads(json.dumps(page_data(searched(name, multipv), "300 nodes")))


def test_one_table_of_losses() -> None:
    """Text, KIF and page show the same losses, and the totals count what is shown."""
    result = three_moves()
    data = page_data(result, "")
    moves = data["nodes"][1:]
    for move in moves:
        grade = next((grade for grade in GRADES if move["loss"] >= grade.least), None)
        assert (move["grade"], move["gradeText"]) == ((grade.name, grade.name) if grade else ("", ""))
    for side, total in data["summary"].items():
        own = [move for move in moves if move["side"] == side]
        assert [sum(one["grade"] == grade.name for one in own) for grade in GRADES] == [total[g.name] for g in GRADES]
        assert total["loss"] == round(sum(move["loss"] for move in own) / len(own), 1)
        assert total["moves"] == len(own)
    third = data["nodes"][3]
    assert (third["text"], third["win"], third["loss"]) == ("mate -5", 0.0, 51.7)
    assert third["why"] == ["Walked into mate in 5."]


def test_lines_stand_where_they_begin() -> None:
    nodes = page_data(three_moves(), "")["nodes"]
    assert [line["kind"] for line in nodes[1]["lines"]] == ["best"]
    assert [(line["kind"], line["moves"], line["names"]) for line in nodes[3]["lines"]] == [
        ("better", ["2g2f", "8d8e"], ["☗P-2f", "☖P-8e"])
    ]
    assert nodes[3]["lines"][0]["text"] == "+40"
    nodes = page_data(judged("7g7f", valued(0, "2g2f"), valued(300, "3c3d")), "")["nodes"]
    assert [(line["kind"], line["moves"]) for line in nodes[1]["lines"]] == [
        ("best", ["3c3d"]), ("better", ["2g2f"]), ("refutation", ["3c3d"])
    ]  # fmt: skip
    nodes = page_data(judged("7g7f", mating(3, "2g2f"), valued(-4000, "3c3d")), "")["nodes"]
    assert [line["kind"] for line in nodes[1]["lines"]] == ["best", "better"]  # a missed mate that still wins
    three = data_of("game.kif", multipv=3)["nodes"][0]["lines"]
    assert [line["kind"] for line in three] == ["best", "candidate", "candidate"]
    assert int(three[0]["text"]) >= int(three[1]["text"]) >= int(three[2]["text"])


def test_nodes_follow_the_rules() -> None:
    """Each position and each line can be played out."""
    for name in ("whole_game.kifu", "handicap.kif"):
        nodes = data_of(name)["nodes"]
        for before, node in itertools.pairwise(nodes):
            board = load_core().board(before["sfen"])
            assert node["side"] == ("black" if board.turn == 0 else "white")
            board.push(node["usi"])
            assert (board.sfen(), board.is_check(), node["ply"]) == (node["sfen"], node["check"], before["ply"] + 1)
            for line in node["lines"]:
                start = before["sfen"] if line["kind"] == "better" else node["sfen"]
                load_core().board.from_moves(line["moves"], start)


def test_comments_of_a_move_and_the_end_after_it() -> None:
    result = three_moves()
    last = result.root.last()
    last.comment, last.end = "a mistake", End("TORYO", comment="a short game")
    assert page_data(result, "")["nodes"][-1]["comment"] == "a mistake\na short game"


def test_record_is_on_the_page() -> None:
    data = data_of("variations.kifu")
    nodes = data["nodes"]
    main = nodes[:5]
    assert [node["seconds"] for node in main] == [None, 1, 2, 3, 4]
    assert [node["total"] for node in main] == [None, 1, 2, 4, 6]
    assert nodes[0]["comment"] == "開始局面"
    others = [(node["parent"], node["move"], node["main"]) for node in nodes[5:]]
    assert others[:6] == [
        (4, "☗P-2e", False),
        (2, "☗Bx2b+", False), (6, "☖Sx2b", True), (7, "☗B*4e", True), (6, "☖Rx2b", False),
        (2, "☗P-6f", False),
    ]  # fmt: skip
    assert [node["id"] for node in nodes] == list(range(len(nodes)))
    assert (nodes[6]["comment"], nodes[6]["win"], nodes[6]["total"]) == ("角交換", None, None)
    assert data["end"] == "White wins by resignation."
    assert "まで4手で後手の勝ち" in data["kif"]
    headers = dict(data_of("whole_game.kifu")["headers"])
    assert (headers["Event"], headers["Started"]) == ("試験対局", "2026/11/22")
    assert dict(data_of("handicap.kif")["headers"])["Handicap"] == "two pieces"
    assert data_of("game.kif")["phases"] == [{"ply": 10, "name": "First capture"}, {"ply": 10, "name": "First check"}]


def test_japanese_page() -> None:
    with japanese():
        data = page_json(page_text(three_moves(), ""))
    assert data["texts"]["Turn the board"] == "盤面反転"
    assert (data["nodes"][3]["move"], data["nodes"][3]["gradeText"]) == ("☗７七角", "大悪手")
    assert data["nodes"][1]["text"] == "+60"


def test_page_is_one_file() -> None:
    result = three_moves()
    # A name cannot end the script that has the data.
    result.header["先手"] = "</script><b>"
    text = page_text(result, "300 nodes")
    assert page_json(text)["title"].startswith("☗ </script><b>")
    outside = re.findall(r"https?://[^\"' ]+|src=|@import|url\((?!#|%23|\"data:)|@DATA@", text)
    assert set(outside) <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which nothing loads


def test_index_of_several_games(tmp_path: Path) -> None:
    """A game named index does not replace the index."""
    own = tmp_path / "index.kif"
    own.write_bytes((RECORDS / "game.kif").read_bytes())
    assert main([str(own), str(RECORDS / "whole_game.kifu"), "--html", str(tmp_path / "pages"), *QUICK]) == 0
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "index-2.html", "index.html", "whole_game.html"
    ]  # fmt: skip
    games = page_json((tmp_path / "pages" / "index.html").read_text(encoding="utf-8"))["games"]
    assert [game["href"] for game in games] == ["index-2.html", "whole_game.html"]
    assert (games[1]["moves"], games[1]["event"], games[1]["end"]) == (91, "試験対局", "Black wins: the king is mated.")
    assert 0 < games[1]["black"]["accuracy"] <= 100
    out = tmp_path / "out.html"
    assert main([str(own), str(RECORDS / "whole_game.kifu"), "--html", str(out), *QUICK]) == 2
    assert not out.exists()


@pytest.mark.parametrize("moves, names", described_rows("castles.jsonl"))
@pytest.mark.parametrize("side", (0, 1))
def test_castles_of_both_sides(side: int, moves: str, names: str) -> None:
    """Names in their order; the other side passes between these moves."""
    own = [move.translate(FLIPPED) if side else move for move in moves.split()]
    game = Game.from_moves([one for move in own for one in (("pass", move) if side else (move, "pass"))])
    found = [one for formed in name_formations(game).values() for one in formed if one.kind == "castle"]
    assert " ".join(one.japanese for one in found) == names


@pytest.mark.parametrize("moves, name", described_rows("openings.jsonl"))
def test_openings(moves: str, name: str) -> None:
    game = Game.from_moves(moves.split())
    with japanese():
        assert formation_headers(game, name_formations(game))["戦型"] == name


def test_every_formation_is_found_on_its_squares() -> None:
    """Set up alone, each is found as itself or one that needs no more; a set has its pieces."""
    assert Counter(one.kind for one in {one.japanese: one for one in formations()}.values())["castle"] >= 30
    assert sum(one.kind == "opening" for one in formations()) >= 25
    for one in formations():
        board = load_core().board(sfen_of(one))
        for side in (0, 1):
            found = find_formation(board if side == 0 else load_core().board(flip_sfen(board.sfen())), side, one.kind)
            assert found
            assert found.japanese == one.japanese
        letters = Counter(next(iter(piece))[0] for piece in one.pieces)
        assert all(letters[letter] <= count for letter, count in FULL_SET.items())
        assert one.kind == "opening" or letters["K"] == 1


def sfen_of(formation: Formation) -> str:
    """The position with a formation's pieces, each on its first square."""
    firsts = [sorted(piece)[0] for piece in formation.pieces]
    placed = {"2a": "k", "5i": "" if any(one[0] == "K" for one in firsts) else "K"}
    placed |= {} if any(one[1] == "2" for one in firsts if one[0] in "P.") else {"2g": "P"}
    placed |= {one[1:]: one[0] for one in firsts if one[1:] != "*" and one[0] != "."}
    ranks = ["".join(placed.get(f"{file}{rank}") or "1" for file in range(9, 0, -1)) for rank in RANKS]
    held = "".join(one[0] for one in firsts if one[1:] == "*")
    return f"{'/'.join(ranks)} b {held or '-'} 1"


def test_where_formations_are_shown() -> None:
    game = with_values(Game.from_moves(["7g7f", "3c3d", "2g2f", "5c5d", "2f2e", "8b5b"]), [valued(0)] * 7)
    lines = [text.strip() for text, _style, _word in format_lines(game)]
    assert "Opening: Cheerful central rook" in lines
    assert lines[-10].split(maxsplit=1) == ["Opening", "Cheerful central rook"]
    assert "戦型：ゴキゲン中飛車\n" in kif_text(game)
    data = page_data(game, "")
    assert ["Opening", "Cheerful central rook"] in [list(one) for one in data["headers"]]
    assert data["nodes"][6]["why"] == ["Opening: Cheerful central rook"]
    game.header["戦型"] = "力戦"
    assert "戦型：力戦\n" in kif_text(game)
