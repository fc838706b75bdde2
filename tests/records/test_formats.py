"""CSA, JKF and USI text: what each may hold, and the conversions between them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from tests.records.common import GAMES, MOVES, RECORDS, faults_of, game_of
from usi_engine import language
from usi_engine.records import csa, jkf, position, usi_text
from usi_engine.records.csa import control_of, words_of
from usi_engine.records.ends import CSA_NAMES
from usi_engine.records.faults import FaultyText
from usi_engine.records.tree import Record

START = Board().sfen()
SET = "2r2b4g4s4n4l17p"
# White's squares that are empty in the handicaps.
EMPTIED = (
    "11 91 22 82 82-11 82-22 82-22-11 82-22-11-91 82-22-11-91-81 82-22-11-91-21 82-22-11-91-21-81 "
    "82-22-11-91-21-81-31 82-22-11-91-21-81-71 82-22-11-91-21-81-31-71 82-22-11-91-21-81-31-71-41-61"
)
PAWN = {"color": 0, "kind": "FU"}
EMPTY = {"color": 0, "board": [[{}] * 9] * 9}
FORMATS = {"csa": csa, "jkf": jkf, "usi": usi_text}


def moves_of(record: Record) -> list[str]:
    return [node.move for node in record.main_line]


def end_of(record: Record) -> str:
    return record.end.name if record.end else ""


def csa_text(*lines: str) -> str:
    return "\n".join(["PI", "+", "+7776FU", *lines]) + "\n"


def jkf_text(*entries: Any, **members: Any) -> str:
    return json.dumps({"moves": [{}, *entries], **members}, ensure_ascii=False)


def jkf_move(usi: str, piece: str, **members: Any) -> dict[str, Any]:
    """An entry with a move on the board."""
    places = [{"x": int(name[0]), "y": "abcdefghi".index(name[1]) + 1} for name in (usi[:2], usi[2:4])]
    return {"move": {"from": places[0], "to": places[1], "piece": piece} | members}


# ---- positions ----


@pytest.mark.parametrize(
    ("lines", "sfen"),
    [
        ("PI", START), ("PI82HI22KA|-", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("P-11OU|P+23TO|P+00KI|P-00AL|+", "8k/9/7+P1/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"),
        ("P-11OU|P-00AL|P+23UM99NG|+", "8k/9/7+B1/9/9/9/9/9/+S8 b 2rb4g3s4n4l18p 1"),
        ("P-11OU|P+23TO|P+00KI00HI00FU|P-00HI00KA|+", "8k/9/7+P1/9/9/9/9/9/9 b RGPrb 1"),
        ("P1 *  *  * -OU *  *  *  * |-", ""), ("P1 *  *  *  * -OU *  *  *  *|P2*  *  *  *  *  *  *  *  +FU|-",
                                            "4k4/8P/9/9/9/9/9/9/9 w - 1"),
        ("PI|P+00FU", ""), ("PI|P+00OU", ""), ("PI11HI", ""), ("P-11OU11KI", ""), ("P1-XX", ""), ("xyz", ""), ("", ""),
    ],
)  # fmt: skip
def test_csa_positions(lines: str, sfen: str) -> None:
    if sfen:
        assert position.read_position(lines.split("|")) == sfen
    else:
        with pytest.raises(ValueError, match="not a CSA position"):
            position.read_position(lines.split("|"))


def test_rows_have_three_characters_a_square() -> None:
    lines = position.position_lines(f"8k/7+R1/7G1/9/9/9/9/9/9 w 2N{SET[1:-1]}p 1")
    assert lines[:2] == ["P1 *  *  *  *  *  *  *  * -OU", "P2 *  *  *  *  *  *  * +RY * "]
    assert lines[9] == "P+00KE00KE"
    assert lines[-1] == "-"
    assert position.position_lines(START) == ["PI", "+"]
    assert position.position_lines(START.replace(" b ", " w ")) == ["PI", "-"]


@pytest.mark.parametrize("kind", FORMATS)
def test_positions_of_games_are_read_back(kind: str) -> None:
    board = Board()
    for move in MOVES:
        board.push(move)
        start = " ".join([*board.sfen().split()[:3], "1"])
        assert FORMATS[kind].read(FORMATS[kind].write(Record(start))).start == start


@pytest.mark.parametrize(("preset", "missing"), list(zip(jkf.PRESETS, ["", *EMPTIED.split()], strict=True)))
def test_handicaps_of_jkf(preset: str, missing: str) -> None:
    record = jkf.read(jkf_text(initial={"preset": preset}))
    assert json.loads(jkf.write(record))["initial"] == {"preset": preset}
    setup = position.Setup()
    setup.fill(position.START)
    for square in filter(None, missing.split("-")):
        del setup.board[square]
    setup.turn = "w" if missing else "b"
    assert record.start == setup.sfen()


# ---- CSA ----


@pytest.mark.parametrize("name", sorted(CSA_NAMES - {"OUTE_SENNICHITE"}))
def test_ends_of_csa(name: str) -> None:
    record = csa.read(csa_text(f"%{name}", "T3", "'*end"))
    assert record.end is not None
    assert (record.end.name, record.end.milliseconds, record.end.comment) == (name, 3000, "end")
    assert csa.write(record).endswith(f"%{name}\nT3\n'*end\n")
    if name != "MAX_MOVES":
        assert end_of(jkf.read(jkf.write(record))) == name


@pytest.mark.parametrize(
    ("lines", "milliseconds", "version"),
    [(["T12"], 12000, "V2.2\n"), (["T1.234"], 1234, "'CSA encoding=UTF-8\nV3.0\n"), (["T0.5"], 500, "'CSA"),
     (["T1."], 1000, "V2.2"), ([], None, "V2.2")],
)  # fmt: skip
def test_times_of_csa(lines: list[str], milliseconds: int | None, version: str) -> None:
    record = csa.read(csa_text(*lines))
    assert record.main_line[0].milliseconds == milliseconds
    assert csa.write(record).startswith(version)
    assert csa.read(csa.write(record)).main_line[0].milliseconds == milliseconds


def test_statements_on_one_line() -> None:
    record = csa.read("N+a\nV2.2,PI,+\n+7776FU,T3,'*a, b\n-3334FU , T4\n%TORYO,T5\n")
    assert moves_of(record) == ["7g7f", "3c3d"]
    assert [(node.milliseconds, node.comment) for node in record.main_line] == [(3000, "a, b"), (4000, None)]
    assert (end_of(record), record.header) == ("TORYO", {"先手": "a"})


@pytest.mark.parametrize("comment", ["a", "", "  a\n\n b ", "** 30 -3334FU +2726FU", "* a", "'a", "%TORYO", "/", "▲"])
def test_comments_are_kept_by_the_letter(comment: str) -> None:
    record = csa.read(csa_text("%TORYO"))
    record.root.comment = record.main_line[0].comment = comment
    assert record.end is not None
    record.end.comment = comment
    for kind in (csa, jkf):
        again = kind.read(kind.write(record))
        assert again.end is not None
        assert [again.root.comment, again.main_line[0].comment, again.end.comment] == [comment] * 3


@pytest.mark.parametrize(
    ("words", "line", "again"),
    [
        ("60分 切れたら1分将棋", "$TIME_LIMIT:01:00+60", "1時間0分秒読み60秒"),
        ("各１５分", "$TIME_LIMIT:00:15+00", "15分"), ("10分秒読み30秒加算5秒", "$TIME:600+30+5", None),
        ("10分切れ負け", "$TIME_LIMIT:00:10+00", "10分"), ("0分+30秒", "$TIME_LIMIT:00:00+30", "0分秒読み30秒"),
        ("1分30秒", "$TIME:90+0+0", None), ("15分切れたら10秒", "$TIME_LIMIT:00:15+10", "15分秒読み10秒"),
        ("10分秒読み150秒", "$TIME:600+150+0", None),
        ("10分 切れたら1手30秒", "$TIME_LIMIT:00:10+30", "10分秒読み30秒"),
        ("5分（切れたら30秒）", "$TIME_LIMIT:00:05+30", "5分秒読み30秒"),
        ("01:00+60", "$TIME_LIMIT:01:00+60", "1時間0分秒読み60秒"), ("むずかしい", "$持ち時間:むずかしい", None),
    ],
)  # fmt: skip
def test_time_controls(words: str, line: str, again: str | None) -> None:
    record = csa.read(csa_text())
    record.header["持ち時間"] = words
    text = csa.write(record)
    assert line in text.splitlines()
    assert ("V3.0" in text.splitlines()) == line.startswith("$TIME:")
    assert csa.read(text).header["持ち時間"] == (again or words)
    control = control_of(words)
    assert control is None or control_of(words_of(control)) == control


# ---- JKF ----


@pytest.mark.parametrize(
    ("line", "members"),
    [
        ("7g7f", {}),
        ("7g7f 3c3d 8h2b+", {"promote": True, "capture": "KA"}),
        ("7g7f 3c3d 8h2b", {"promote": False, "capture": "KA"}),
        ("7g7f 3c3d 8h2b+ 3a2b", {"same": True, "capture": "UM"}),
        ("7g7f 3c3d 8h2b+ 3a2b B*4e", {}),
        ("sfen 4k4/9/9/9/9/9/9/4G4/3G1K3 b G 1 moves G*5i", {"relative": "H"}),
        ("sfen 4k4/9/9/9/9/9/9/4G4/3G1K3 b G 1 moves G*1e", {}),
        ("sfen 4k4/9/9/9/9/9/9/4G4/3G1K3 b G 1 moves 6i6h", {"relative": "U"}),
        ("sfen 4k4/9/9/9/9/9/9/4G4/3G1K3 b G 1 moves 5h6h", {"relative": "M"}),
        ("sfen 4k4/9/9/9/9/9/9/9/2GGG1K2 b - 1 moves 5i6h", {"relative": "R"}),
    ],
)
def test_moves_of_jkf_say_what_the_position_tells(line: str, members: dict[str, Any]) -> None:
    move = json.loads(jkf.write(usi_text.read(line)))["moves"][-1]["move"]
    assert {key: value for key, value in move.items() if key not in ("color", "from", "to", "piece")} == members


def test_header_and_missing_members() -> None:
    assert json.loads(jkf.write(usi_text.read("7g7f")))["header"] == {}
    nulls = jkf_move("7g7f", "FU", color=0, same=None, promote=None, capture=None, relative=None)
    nulls |= {"comments": None, "time": None, "forks": None, "special": None}
    for header in ({"header": None}, {}, {"header": {"備考": None}}):
        record = jkf.read(jkf_text(nulls, initial=None, **header))
        assert (record.start, moves_of(record), record.header) == (START, ["7g7f"], {})


def test_an_entry_may_have_a_move_and_an_end_and_one_text_as_comments() -> None:
    record = jkf.read(jkf_text(jkf_move("7g7f", "FU") | {"special": "TORYO", "comments": "ab"}))
    assert (moves_of(record), end_of(record), record.main_line[0].comment) == (["7g7f"], "TORYO", "ab")


def test_line_ends_in_a_header_end_no_game(tmp_path: Path) -> None:
    source, out = tmp_path / "a.jkf", tmp_path / "a.csa"
    values = {"先手": "a\n/\nPI\n+\n+2726FU", "備考\n%TORYO": "b\r\nN-c"}
    source.write_text(jkf_text(jkf_move("7g7f", "FU"), header=values), encoding="utf-8")
    out.write_text(csa.write(game_of(source).record), encoding="utf-8")
    game = game_of(out)
    assert (game.count, game.moves, game.players) == (1, ("7g7f",), ("a / PI + +2726FU", ""))


def test_forks_are_kept() -> None:
    fork = [
        jkf_move("8c8d", "FU"),
        jkf_move("2g2f", "FU") | {"forks": [[jkf_move("6g6f", "FU")]]},
        {"special": "CHUDAN"},
    ]
    other = [jkf_move("1c1d", "FU", color=1) | {"comments": ["a", "b"], "time": {"now": {"m": 1, "s": 5}}}]
    third = jkf_move("2g2f", "FU")
    text = jkf_text(jkf_move("7g7f", "FU"), jkf_move("3c3d", "FU") | {"forks": [fork, other]}, third)
    record = jkf.read(text)
    for _ in range(2):
        assert moves_of(record) == ["7g7f", "3c3d", "2g2f"]
        first, second, last = record.main_line[0].variations
        assert (first.move, second.move, last.move) == ("3c3d", "8c8d", "1c1d")
        assert [node.move for node in second.variations] == ["2g2f", "6g6f"]
        end = second.variations[0].end
        assert end is not None
        assert (end.name, last.comment, last.milliseconds) == ("CHUDAN", "a\nb", 65000)
        record = jkf.read(jkf.write(record))
    assert record.count_variations() == 3


# ---- USI text ----


@pytest.mark.parametrize(
    ("line", "start", "moves", "end"),
    [
        (f"sfen {START[:-2]} moves 7g7f", START, ["7g7f"], ""),
        ("startpos moves 7g7f rep_draw", START, ["7g7f"], "SENNICHITE"),
        ("position startpos moves 7g7f break", START, ["7g7f"], "CHUDAN"), ("7g7f rep_inf", START, ["7g7f"], "CHUDAN"),
        ("7g7f resign # comment", START, ["7g7f"], "TORYO"), ("7g7f rep_win", START, ["7g7f"], "+ILLEGAL_ACTION"),
        ("8k/9/7+P1/9/9/9/9/9/9 b PGRbr", "8k/9/7+P1/9/9/9/9/9/9 b RGPrb 1", [], ""),
    ],
)  # fmt: skip
def test_lines_of_usi(line: str, start: str, moves: list[str], end: str) -> None:
    record = usi_text.read(line)
    assert (record.start, moves_of(record), end_of(record)) == (start, moves, end)
    again = usi_text.read(usi_text.write(record))
    assert (again.start, moves_of(again)) == (start, moves)


# ---- faults ----


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("csa", csa_text("%NONSENSE"), "line 4, move 2: not a move: '%NONSENSE'"),
        ("csa", csa_text("%TORYO", "-3334FU"), "line 5, move 2: a move after the end: '-3334FU'"),
        ("csa", csa_text("T1.2x"), "line 4: cannot be read: 'T1.2x'"),
        ("csa", csa_text("-3335FU", "+2726FU"), "line 4, move 2: illegal move: '-3335FU'"),
        ("csa", "PI\nP+00FU\n+\n", "record: 19 pieces FU, a set has 18"),
        ("csa", "P1-XX\n", "line 1: cannot be read: 'P1-XX'"),
        ("jkf", jkf_text(jkf_move("7g7f", "FU"), jkf_move("2g2f", "FU", color=0)),
         "move 2: a move of the other side: '{from:{x:2,y:7},to:{x:2,y:6},piece:FU,color:0}'"),
        ("jkf", jkf_text(jkf_move("7g7f", "KI")), "move 1: illegal move: '{from:{x:7,y:7},to:{x:7,y:6},piece:KI}'"),
        ("jkf", jkf_text({"move": 5}), "move 1: cannot be read: '5'"),
        ("jkf", jkf_text({"special": "TORYO"}, jkf_move("7g7f", "FU")), "move 1: a move after the end: '"),
        ("jkf", jkf_text(jkf_move("7g7f", "FU") | {"time": {"now": {"m": "x"}}}), "move 2: cannot be read: '"),
        ("jkf", jkf_text(initial={"preset": "9"}), "record: unknown handicap: '9'"),
        ("jkf", jkf_text(initial={"preset": "OTHER"}), "record: the start position or the header cannot be read"),
        ("jkf", jkf_text(initial={"preset": "OTHER", "data": EMPTY | {"hands": [{"FU": 99}]}}),
         "record: not a number of pieces: 'FU: 99'"),
        ("jkf", jkf_text(initial={"preset": "OTHER", "data": {"color": 0, "board": [[]] * 9 + [[PAWN]]}}),
         "record: the board is not 9x9"),
        ("jkf", jkf_text(initial={"preset": "OTHER", "data": EMPTY | {"color": "0"}}),
         "record: not a color: '0'"),
        ("jkf", jkf_text({"move": {"to": {"x": 5, "y": 8}, "piece": "KI", "relative": "R"}}),
         "move 1: not a drop, but `from` is missing"),
        ("usi", "startpos moves break 7g7f", "line 1, move 1: cannot be read: 'break'"),
        ("usi", "sfen 9/9 b - 1", "line 1: "),
        ("usi", "startpos 7g7f", "line 1: cannot be read: '7g7f'"),
    ],
    ids=range(20),
)  # fmt: skip
def test_faulty_text(kind: str, text: str, message: str) -> None:
    try:
        fault = FORMATS[kind].read(text).fault
    except FaultyText as error:
        fault = error.fault
    assert fault is not None
    assert fault.text().startswith(message)


# Columns of JKF, from the first file.
TWO_KINGS_COLUMNS = [
    [{}] * 9, [{}] * 9, [{}] * 9, [*[{}] * 8, {"color": 0, "kind": "OU"}],
    [{"color": 1, "kind": "OU"}, *[{}] * 7, {"color": 0, "kind": "OU"}], *[[{}] * 9] * 4,
]  # fmt: skip
TWO_KINGS = "4k4/9/9/9/9/9/9/9/4KK3 b - 1"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("csa", "P-51OU\nP+59OU49OU\n+\n+7776FU\n"),
        ("jkf", jkf_text(initial={"preset": "OTHER", "data": {"color": 0, "board": TWO_KINGS_COLUMNS}})),
        ("usi", f"sfen {TWO_KINGS}"),
    ],
)
def test_faults_of_the_start_are_translated(kind: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog has the messages of the core without what they quote."""
    japanese = {"two kings of one colour in '{0}'": "玉が 2 枚：'{0}'"}
    monkeypatch.setattr(language, "_translate", lambda text: japanese.get(text, text))
    with pytest.raises(FaultyText, match=re.escape(f"玉が 2 枚：'{TWO_KINGS}'")):
        FORMATS[kind].read(text)


@pytest.mark.parametrize(
    ("name", "text", "end"),
    [
        ("a.csa", csa_text("-3335FU", "T1", "%TORYO"), ""),
        ("a.csa", csa_text("-3335FU", "%ILLEGAL_MOVE"), "ILLEGAL_MOVE"),
        ("a.jkf", jkf_text(jkf_move("7g7f", "FU"), jkf_move("3c3e", "FU"), {"special": "TORYO"}), ""),
        ("a.usi", "7g7f 3c3e", ""),
    ],
)  # fmt: skip
def test_a_game_is_read_up_to_an_illegal_last_move(name: str, text: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    game = game_of(path)
    assert (game.moves, end_of(game.record)) == (("7g7f",), end)
    assert len(faults_of(path)) == 1
    assert "move 2: illegal move" in faults_of(path)[0]


@pytest.mark.parametrize("source", GAMES)
@pytest.mark.parametrize("suffix", ["", ".txt", ".kif", ".ki2", ".csa", ".jkf", ".usi"])
def test_the_text_decides_the_format(source: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes((RECORDS / source).read_bytes())
    game = game_of(path)
    assert (game.kind, list(game.moves)) == (source[5:8], MOVES)


@pytest.mark.parametrize("text", ["(1)▲７六歩 (2)△３四歩", "先手７六歩", "初手は５　六歩", "⛊７六成銀"])
def test_a_text_with_moves_is_no_empty_game(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.kif"
    path.write_text(f"戦型：▲７六歩\n手合割：平手\n*７六歩\n{text}\n", encoding="utf-8")
    assert len(faults_of(path)) == (0 if "　" in text else 1)
