"""KIF, and what it shares with KI2: starts, ends, comments, times, faults."""

import time
from pathlib import Path

import pytest

from tests.records.common import faults_of, game_of
from usi_engine.records import kakinoki, kif
from usi_engine.records.faults import FaultyText
from usi_engine.records.position import HANDICAPS

EVEN = "手合割：平手\n"
FOUR = "   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２二角成(88)\n   4 同　銀(31)\n"
MOVES = ["7g7f", "3c3d", "8h2b+", "3a2b"]
TSUME = "8k/7P1/7G1/9/9/9/9/9/9 {} N2r2b3g4s3n4l17p 1"
HAND = "飛二　角二　金三　銀四　桂三　香四　歩十七　"


def diagram(hand: str = HAND, names: str = "先後", after: str = "") -> str:
    """A position of a mate problem."""
    empty = ["| ・ ・ ・ ・ ・ ・ ・ ・ ・|" + rank for rank in "四五六七八九"]
    rows = ["|{}v玉|一".format(" ・" * 8), "|{} 歩 ・|二".format(" ・" * 7), "|{} 金 ・|三".format(" ・" * 7), *empty]
    edge = "+---------------------------+"
    lines = [
        f"{names[1]}手の持駒：{hand}",
        "  ９ ８ ７ ６ ５ ４ ３ ２ １",
        edge,
        *rows,
        edge,
        f"{names[0]}手の持駒：桂　",
    ]
    return "\n".join(lines) + "\n" + after


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (diagram(), TSUME.format("b")),
        (diagram(HAND.replace("十七", "17")), TSUME.format("b")),
        (diagram(HAND.replace("　", "")), TSUME.format("b")),
        (diagram().replace("|", "｜").replace("・", "･"), TSUME.format("b")),
        (diagram().replace("|一", "│1").replace("後手", "玉方").replace("先手", "攻方"), TSUME.format("b")),
        (diagram(HAND.replace("　", " ")), TSUME.format("b")),
        (diagram(after="先手番\n"), TSUME.format("b")),
        (diagram(after="後手番\n"), TSUME.format("w")),
        (diagram(after="手番：後手\n"), TSUME.format("w")),
        (diagram(names="下上", after="上手番\n"), TSUME.format("w")),
        (diagram(after="手数＝8  △１一玉  まで\n"), TSUME.format("b")),
        ("手数：1手詰\n" + diagram(), TSUME.format("b")),
        (diagram().replace("v", "V").replace("持駒", "持ち駒"), TSUME.format("b")),
        (EVEN + "後手番\n", HANDICAPS["平手"].replace(" b ", " w ")),
        ("手合割：左七枚落ち　　\n", "2sgkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("手合割：右七枚落ち\n", "3gkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
    ],
)
def test_starts(text: str, start: str) -> None:
    """Each is read, and written so that it is read again."""
    record = kakinoki.read(text)
    assert record.start == start
    assert kakinoki.read(kif.write_kif(record)).start == kakinoki.read(kif.write_ki2(record)).start == start


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (diagram(HAND.replace("飛", "鳥")), "line 1: not pieces in hand"),
        (diagram(HAND.replace("十七", "百")), "line 1: not pieces in hand"),
        (diagram(HAND.replace("十七", "七七")), "line 1: not a number of pieces"),
        (diagram(HAND.replace("十七", "十八")), "line 14: too many pieces"),
        (diagram().replace("|一", "|二"), "line 4: not rank 1 of a 9x9 diagram"),
        (diagram().replace(" 歩", " 鳥"), "line 5: not a rank of nine squares"),
        (diagram().replace(" ・", "", 1), "line 4: not a rank of nine squares"),
        (diagram().replace("| ・ ・ ・ ・ ・ ・ ・ ・ ・|九\n", ""), "line 13: the diagram has 8 ranks, not 9"),
        (diagram() + "|{}|\n".format(" ・" * 9), "line 15: the diagram has 10 ranks, not 9"),
        ("手合割：5五将棋\n", "line 1: unknown handicap"),
        (EVEN + "先手の持駒：歩\n", "line 2: hands without a diagram"),
        ("先手の持駒：なし\n一| ・ ・\n", "line 1: hands without a diagram"),
        (EVEN + "+---+\n一| ・ ・\n", "line 2: the diagram has 0 ranks, not 9"),
        (diagram(names="先敵"), "line 1: a hand of neither side"),
        (EVEN + FOUR + diagram(), "line 6, move 5: a start position after the moves"),
        (EVEN + "   1 ７六歩(87)\n   2 ３四歩(33)\n", "line 2, move 1: illegal move: '1 ７六歩(87)'"),
        (EVEN + "   1 ７六銀(77)\n   2 ３四歩(33)\n", "line 2, move 1: illegal move: '1 ７六銀(77)'"),
        (EVEN + "   1 △７六歩(77)\n", "line 2, move 1: a move of the other side"),
        (EVEN + "   1 ５八金\n", "line 2, move 1: ambiguous move: '1 ５八金'"),
        (EVEN + "   1 ７六歩(77)\n   3 ３四歩(33)\n", "line 3, move 2: not the number of the next move"),
        (EVEN + "   1 ７六歩(00)\n", "line 2, move 1: not a move"),
        (EVEN + FOUR + "   5 封じ手\n   6 ４五角打\n", "line 6, move 5: not a move: '5 封じ手'"),
        (EVEN + FOUR + "   5 ４五\n", "line 6, move 5: not a move: '5 ４五'"),
        (EVEN + FOUR + "x  5 ４五角打 ( 0:01/00:00:01)\n", "line 6: cannot be read"),
        (EVEN + FOUR + "   5 同じ\n", "line 6, move 5: not a move: '5 同じ'"),
        (EVEN + "   1 ７六歩(77) ( 0:01/00:00:01)   2 ３四歩(33)\n", "line 2, move 1: not a move"),
        (EVEN + FOUR + "   5 五角(22)\n", "line 6, move 5: not a move: '5 五角(22)'"),
        (EVEN + FOUR + "   5 角４五\n", "line 6, move 5: not a move: '5 角４五'"),
        (EVEN + FOUR + "   5 +0045KA\n", "line 6, move 5: not a move: '5 +0045KA'"),
        (EVEN + FOUR + "上手：a\n", "line 6, move 5: a player's name after the moves: '上手：a'"),
        (EVEN + FOUR + "   6 投了\n", "line 6, move 5: not the number of the next move: '6 投了'"),
        (EVEN + FOUR + "まで5手で先手の勝ち\n", "line 6, move 5: not the number of moves read: 'まで5手で先手の勝ち'"),
        (EVEN + FOUR + "まで１１手で投了\n", "line 6, move 5: not the number of moves read"),
        (EVEN + FOUR + "   5 投了\nまで5手で先手の勝ち\n", "line 7, move 5: not the number of moves read"),
        (EVEN + FOUR + "   5 投了 ( 0:01/00:00:01)   6 ４五角打\n", "line 6, move 5: not a move"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(FaultyText) as raised:
        kakinoki.read(text)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "name", "word"),
    [
        ("   5 投了\n", "TORYO", ""),
        ("   5 封じ手\n", "CHUDAN", "封じ手"),
        ("   5 Time-up\n", "TIME_UP", "Time-up"),
        ("   5 時間切れ\n", "TIME_UP", "時間切れ"),
        ("   5 切れ負け   ( 0:01/00:00:01)\n", "TIME_UP", ""),
        ("   5 反則\n", "ILLEGAL_MOVE", "反則"),
        ("   5 反則負け\n", "ILLEGAL_MOVE", ""),
        ("   5 反則勝ち\n", "-ILLEGAL_ACTION", ""),
        ("   5 引き分け\n", "HIKIWAKE", ""),
        ("   5 持将棋\n", "JISHOGI", ""),
        ("   5 入玉勝ち\n", "KACHI", ""),
        ("   5 待った\n", "MATTA", ""),
        ("   5 詰\n", "TSUMI", ""),
        ("   5 不戦勝\n", "", "不戦勝"),
        ("   5 お茶の時間\n", "", "お茶の時間"),
        ("  15 角落ち\n", "", "角落ち"),
        ("まで4手で後手の勝ち\n", "TORYO", ""),
        ("まで4手で先手の勝ち\n", "", "先手の勝ち"),
        ("まで4手で時間切れにより後手の勝ち\n", "TIME_UP", ""),
        ("まで4手で先手の反則負け\n", "ILLEGAL_MOVE", ""),
        ("まで4手で後手の反則負け\n", "-ILLEGAL_ACTION", ""),
        ("まで4手で先手の入玉勝ち\n", "KACHI", ""),
        ("まで4手で引き分け\n", "HIKIWAKE", ""),
        ("まで4手詰\n", "TSUMI", ""),
        ("まで、4手で中断\n", "CHUDAN", ""),
        ("まで4手で時間切れで先手負け\n", "TIME_UP", ""),
        ("まで4手にて後手勝\n", "TORYO", ""),
        ("まで 4 手で後手の勝ち\n", "TORYO", ""),
        ("まで4手で先手の切れ負け\n", "TIME_UP", ""),
        ("まで4手で後手の時間切れ勝ち\n", "TIME_UP", ""),
        ("   5 ▲投了\n", "TORYO", ""),
        ("   5 連続王手の千日手\n", "OUTE_SENNICHITE", ""),
        ("   5 千日手(連続王手) ( 0:01/00:00:01)\n", "", "千日手(連続王手)"),
    ],
)
def test_ends(text: str, name: str, word: str) -> None:
    record = kakinoki.read(EVEN + FOUR + text)
    for read_again in (record, kakinoki.read(kif.write_kif(record)), kakinoki.read(kif.write_ki2(record))):
        end = read_again.end
        assert [node.move for node in read_again.main_line] == MOVES
        assert end is not None and (end.name, end.word) == (name, word)


def test_everything_is_kept() -> None:
    text = """\
開始日時：2026/11/22
持ち時間：60分 切れたら1分将棋
下手：a
上手：b
手合割：二枚落ち
手数----指手---------消費時間--
*
*  before

*after an empty line
&bookmark
   1 ６二銀(71)   ( 0:01/00:00:01)
** 30 +7776FU
*one
*
   2 ７六歩(77)   (61:05/01:01:05)
   3 ５四歩(53)
   4 投了         ( 0:02/01:01:07)
*end
まで3手で上手の勝ち
"""
    record = kakinoki.read(text)
    assert kif.write_kif(record) == text.replace("\n\n", "\n")
    assert record.root.comment == "\n  before\nafter an empty line\n&bookmark"
    assert record.main_line[0].comment == "** 30 +7776FU\none\n"
    assert [node.milliseconds for node in record.main_line] == [1000, 3665000, None]
    assert (record.players, record.header["持ち時間"]) == (("a", "b"), "60分 切れたら1分将棋")
    assert kif.write_ki2(record).endswith("*\n▲７六歩    △５四歩\n\nまで3手で上手の勝ち\n*end\n")


@pytest.mark.parametrize(
    "text",
    [
        FOUR.replace("歩(", "歩 ("),
        FOUR.replace(" ７", " ▲７").replace(" ３", " △３").replace(" ２", " ☗２").replace(" 同", " ▽同"),
        FOUR.replace("\n", "\r"),
        FOUR.replace("(", "（").replace(")", "） （00:05/00:00:05）").replace("（77", "（７７"),
        FOUR.replace("\n", "(00:00:05 / 00:00:05)+\n"),
        FOUR.replace("   ", "").replace(" ", "手目 "),
        "&bookmark\n# note\n" + FOUR.replace("\n", "\n#\n&x\n\n"),
        "盤面回転\nfree text\n変化：三間飛車\n" + FOUR,
        FOUR.replace("   1", "  41").replace("   2", "  42").replace("   3", "  43").replace("   4", "  44"),
    ],
    ids=range(9),
)
def test_other_ways_to_write(text: str) -> None:
    assert [node.move for node in kakinoki.read(EVEN + text).main_line] == MOVES


@pytest.mark.parametrize(
    "text",
    [
        "1 7六歩(77)\n2 3四歩(33)\n",
        "開始日時：2026/11/28\n   1 ▲７六歩(77)\n",
        "   1 ▲76歩(77)\n",
        "７六歩 ３四歩 ２二角成 同銀\n",
        "手合割：平手\n   1 中断+\n変化：1手\n   1 ７六歩(77)\n",
    ],
)
def test_files_of_few_lines(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.kifu" if "1" in text else "a.ki2u")
    path.write_text(text, encoding="utf-8")
    assert game_of(path).record.root.variations[0].move == "7g7f"


@pytest.mark.parametrize(("line", "moves"), [("手数＝8  △１二歩  まで", ["2c1b"]), ("手数＝12  まで", [])])
def test_the_square_of_the_move_before_a_diagram(line: str, moves: list[str]) -> None:
    record = kakinoki.read(diagram(after=f"{line}\n   1 同　金(23)\n"))
    assert [node.move for node in record.main_line] == moves


@pytest.mark.parametrize(
    ("tail", "result"),
    [
        ("まで5手で後手の勝ち", -1), ("まで5手で中断", None), ("まで5手で千日手", 0), ("まで5手", None),
        ("   5 投了\nまで5手で投了", -1), ("   5 投了\nまで5手で後手の勝ち", -1), ("   7 投了", -1), ("   4 投了", -1),
        ("   6 中断", None), ("   6 千日手", 0), ("まで4手で後手の勝ち（12）", -1), ("   5 投了 (23)", None),
        ("   5 投了\n先手：1分\n後手：2分", -1), ("先手：a\n   5 投了", -1), ("   5 投了 ( 0:01/--:--:--) !", -1),
    ],
)  # fmt: skip
def test_ends_that_other_programs_write(tail: str, result: int | None) -> None:
    """The end is counted as a move, or the number repeated; remarks and players' times follow."""
    moves = FOUR.replace("\n", "   ( 0:01／0:00:01) #\n")
    record = kakinoki.read(f"先手：a\n{EVEN}{moves}{tail}\n")
    assert (len(record.main_line), record.result, record.players) == (4, result, ("a", ""))


def test_a_variation_after_an_illegal_first_move() -> None:
    record = kakinoki.read(f"{EVEN}   1 ７五歩(77)\n   2 反則負け\n変化：1手\n   1 ２六歩(27)\n   2 ３四歩(33)\n")
    assert [node.move for node in record.root.nodes()] == ["", "2g2f", "3c3d"]


@pytest.mark.parametrize("time", ["( 0: 5/00:00:05)", "(0:05.0/)+", "(0:05", "(00:00:05 / 00:00:05) +*a", "( 0:05/)*a"])
def test_times_and_what_follows(time: str) -> None:
    (move,) = kakinoki.read(f"{EVEN}   1 ７六歩(77)   {time}\n   2 投了   {time}\n").main_line
    assert move.end is not None
    for owner in (move, move.end):
        assert (owner.milliseconds, owner.comment) == (5000, "a" if "*" in time else None)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("", None),
        ("   6 投了\n", None),
        ("   6 反則勝ち\n", "ILLEGAL_MOVE"),
        ("まで5手で後手の反則勝ち\n", "ILLEGAL_MOVE"),
    ],
)
def test_an_illegal_last_move_is_left_out(text: str, end: str | None, tmp_path: Path) -> None:
    """The side that made it has lost by it, if the record says so."""
    path = tmp_path / "a.kifu"
    path.write_text(f"{EVEN}{FOUR}   5 １一角打\n*comment\n{text}", encoding="utf-8")
    first = game_of(path)
    assert list(first.moves) == MOVES
    assert (first.record.end.name if first.record.end else None, first.record.main_line[-1].comment) == (end, None)
    assert faults_of(path) == ["a.kifu, line 6, move 5: illegal move: '5 １一角打'"]


@pytest.mark.parametrize(
    "line",
    [
        "▲{}x",
        "▲７六歩{}x",
        "   1 {}x",
        "   1 ７六歩(77){}x",
        "   1 ７六歩(77) ({}x",
        "|{}|",
        "先手の持駒：{}x",
        "変化：{}x",
    ],
)
def test_time_is_linear(line: str) -> None:
    """The texts took up to 27 s."""
    begun = time.process_time()
    for text in (line.format(space * 100_000) for space in " 　(▲"):
        for head in ("", EVEN + "   1 ７六歩(77)\n"):
            try:
                kakinoki.read(head + text)
            except FaultyText:
                continue
    assert time.process_time() - begun < 5
