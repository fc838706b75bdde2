"""Variations: read from KIF and KI2 as a tree, kept by conversions, analysed."""

from pathlib import Path

import pytest

from tests.records.common import RECORDS, faults_of, game_of
from usi_engine.analysis.analyze import main as analyze
from usi_engine.records.convert import main as convert
from usi_engine.records.tree import Node

SOURCE = RECORDS / "variations.kifu"
EVEN = "手合割：平手\n"


def shape(node: Node) -> list[object]:
    """A tree as nested lists."""
    end = node.end and node.end.name
    return [node.move, node.milliseconds, node.comment, end, *map(shape, node.variations)]


def test_the_tree_is_walked_from_python() -> None:
    game = game_of(SOURCE)
    first, other = game.variations
    assert (first.move, other.move, game.moves) == ("7g7f", "2g2f", ("7g7f", "3c3d", "2g2f", "4c4d"))
    assert [node.move for node in first.variations[0].variations] == ["2g2f", "8h2b+", "6g6f"]
    exchange = first.variations[0].variations[1]
    assert (exchange.comment, exchange.milliseconds, exchange.moves()) == ("角交換", 6000, ["7g7f", "3c3d", "8h2b+"])
    assert [node.move for node in exchange.mainline()] == ["3a2b", "B*4e"]
    assert (exchange.last().end, exchange.last().path()[1]) == (next(exchange.mainline()).variations[0].end, first)
    assert [node.move for node in exchange.variations] == ["3a2b", "8b2b"]
    last = game.record.root.last()
    assert (last.move, last.next(), [node.move for node in last.alternatives()]) == ("4c4d", None, ["2f2e"])
    assert game.record.count_variations() == 6


@pytest.mark.parametrize("formats", [["kif"], ["ki2"], ["jkf", "kif"], ["ki2", "jkf", "ki2", "kif"]])
def test_conversions_keep_the_tree(formats: list[str], tmp_path: Path) -> None:
    """Times are lost in KI2."""
    path = SOURCE
    for number, kind in enumerate(formats):
        out = tmp_path / f"{number}.{kind}"
        assert convert([str(path), "--out", str(out), "--encoding", "utf-8"]) == 0
        path = out
    if "ki2" not in formats:
        assert path.read_text(encoding="utf-8") == SOURCE.read_text(encoding="utf-8")
    before = game_of(SOURCE).record.root
    for node in before.nodes() if "ki2" in formats else ():
        node.milliseconds = None
    assert shape(game_of(path).record.root) == shape(before)


def test_variations_at_an_end_that_jkf_lacks_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "a.kifu", tmp_path / "a.jkf"
    source.write_text(f"{EVEN}   1 ７六歩(77)\n   2 切断\n変化：2手\n   2 ３四歩(33)\n", encoding="utf-8")
    assert convert([str(source), "--out", str(out)]) == 0
    assert capsys.readouterr().err == f"{source}: JKF cannot hold 1 end\n"
    assert shape(game_of(out).record.root)[4:] == [["7g7f", None, None, "CHUDAN", ["3c3d", None, None, None]]]


def test_what_a_format_cannot_hold_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert([str(SOURCE), "--out", str(tmp_path / "a.csa")]) == 0
    assert "6 variations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "moves", "fault"),
    [
        (
            "変化：2手\n   2 ３四銀(31)\n   3 ３四歩(33)\n変化：1手\n   1 ２六歩(27)\n",
            [["3c3d"], []],
            "line 5, move 2: illegal",
        ),
        (
            "変化：2手\n   2 ８四歩(83)\n   3 ？\n   4 ３四歩(33)\n",
            [["3c3d", "8c8d"]],
            "line 6, move 3: not a move: '3 ？'",
        ),
        ("変化：9手\n   9 ８四歩(83)\n", [["3c3d"]], "line 4, move 3: no such move: '変化：9手'"),
        ("変化：2手\n   2 投了\n", [["3c3d"]], "line 5, move 2: a variation without a move: '2 投了'"),
        ("変化：2手\n   3 ８四歩(83)\n", [["3c3d"]], "line 5, move 2: not the number of the next move"),
    ],
)
def test_a_faulty_variation_costs_only_itself(text: str, moves: list[list[str]], fault: str, tmp_path: Path) -> None:
    path = tmp_path / "a.kifu"
    path.write_text(f"{EVEN}   1 ７六歩(77)\n   2 ３四歩(33)\n{text}", encoding="utf-8")
    assert [[node.move for node in first.variations] for first in game_of(path).variations] == moves
    assert faults_of(path)[0].startswith(f"a.kifu, {fault}")


def test_variations_are_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(SOURCE), "--nodes", "50", "--eval", "material", "--hash", "1", "--kif", str(tmp_path / "a.kif")]
    assert analyze([*words, "--variations"]) == 0
    text = capsys.readouterr().out
    assert text.count("variation at move") == 6
    assert "variation at move 4\n    4" in text
    written = (tmp_path / "a.kif").read_text(encoding="cp932")
    assert written.count("*#評価値=") + written.count("*#詰み=") == 15  # the start and every move
    assert "*角交換\n**解析 0" in written
    analyze(words)
    assert "variation at move" not in capsys.readouterr().out
