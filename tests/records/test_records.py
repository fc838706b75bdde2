"""Reading game records: every format, both encodings, handicaps, faults with their place."""

from pathlib import Path

import pytest

from core_ext.board import Board
from tests.records.common import GAMES, MOVES, RECORDS, TWO_PIECES, faults_of, game_of, read
from usi_engine import language
from usi_engine.records import csa, kakinoki, kif
from usi_engine.records.formats import LARGEST_TEXT, decoded
from usi_engine.records.games import Game
from usi_engine.records.notation import japanese_text, marked_kif, move_text, name_moves, western_text

NO_GAME_START = "4k4/9/9/9/9/9/9/9/4K4 w Gg 1"
JSON = "a.jkf, record: not JSON of a record: "


@pytest.mark.parametrize("name", GAMES)
def test_every_format_holds_the_same_game(name: str) -> None:
    game = game_of(RECORDS / name)
    assert list(game.moves) == game.board().moves() == MOVES
    assert Board(game.start) == game.board(0) == Board()
    assert game.board(2).moves() == MOVES[:2]
    assert len(game.times) == len(game.moves) == len(game.comments) - 1
    assert game.players == (("", "") if name == "game.usi" else ("駒鳥", "太郎"))


@pytest.mark.parametrize("name", ["game.kifu", "game.ki2u", "game.csa"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "iso2022_jp"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(name: str, encoding: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / name
    text = decoded((RECORDS / name).read_bytes()).replace("\n", end) + "\x1a\0" * (end == "\r\n")
    path.write_bytes(text.encode(encoding))
    assert list(game_of(path).moves) == MOVES
    assert game_of(path).players == ("駒鳥", "太郎")


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp932", ("ﾅｶﾑﾗ", "ﾔﾏﾀﾞ")),
        ("euc_jp", ("羽生", "ナカムラ")),
        ("euc_jp", ("羽生", "凛")),
        ("euc_jp", ("澤田", "濱田")),
    ],
)
def test_half_width_kana(encoding: str, names: tuple[str, str]) -> None:
    text = "N+{}\nN-{}\nPI\n+\n+7776FU\n%TORYO\n".format(*names)
    assert csa.read(decoded(text.encode(encoding))).players == names


@pytest.mark.parametrize("name", ["handicap.kif", "handicap.csa"])
def test_handicaps(name: str) -> None:
    game = game_of(RECORDS / name)
    assert (game.start, game.moves[0], len(game.moves)) == (TWO_PIECES, "7a6b", 8)


def test_several_games_in_a_file() -> None:
    games = [game for game in read(RECORDS / "games.csa") if isinstance(game, Game)]
    assert [len(game.moves) for game in games] == [20, 8]
    assert [game.name.rpartition("/")[2] for game in games] == ["games.csa, game 1", "games.csa, game 2"]
    assert [len(game.moves) for game in read(RECORDS / "list.sfen") if isinstance(game, Game)] == [2, 1, 0]


@pytest.mark.parametrize(
    "name, message",
    [
        ("illegal.kif", "illegal.kif, line 15, move 7: illegal move: '7 ５五飛(28) ( 0:05/00:00:25)'"),
        ("broken.kif", "broken.kif, line 15, move 7: not a move: '7 １六'"),
        ("illegal.ki2u", "illegal.ki2u, line 9, move 7: illegal move: '▲１五歩'"),
        ("illegal.csa", "illegal.csa, line 22, move 7: illegal move: '+1715FU'"),
        ("illegal.jkf", "illegal.jkf, move 7: illegal move: '{color:0,from:{x:1,y:7},piece:FU,to:{x:1,y:5}}'"),
        ("illegal.usi", "illegal.usi, line 2, move 3: illegal move: '8h2c'"),
        ("broken.jkf", "broken.jkf, line 1: not JSON: "),
    ],
)
def test_faults_have_their_place(name: str, message: str) -> None:
    (fault,) = faults_of(RECORDS / name)
    assert fault.startswith(message)


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.kif", "", "a.kif: the file holds no game"),
        ("a.kif", "hello\n", "a.kif: the file holds no game"),
        ("a.txt", "hello\n", "a.txt: not a game record of a known format (KIF, KI2, CSA, JKF, USI)"),
        ("a.csa", "PI\n+\n+77\n", "a.csa, line 3, move 1: not a move: '+77'"),
        ("a.csa", "PI\n+\n+7776FU\n+2726FU\n", "a.csa, line 4, move 2: a move of the other side: '+2726FU'"),
        ("a.csa", "PI\n+\n+7776FU\n/\nPI\n+\n+7775FU\n", "a.csa, line 7, move 1: illegal move: '+7775FU'"),
        ("a.jkf", "{}", "a.jkf, record: `moves` is missing or not a list"),
        ("a.jkf", "[" * 200000, JSON + "nested too deeply"),
        ("a.jkf", r'{"header":{"a":"\ud83d"},"moves":[]}', JSON + r"half of a surrogate pair: '\ud83d'"),
        ("a.kif", f"手合割：平手\n{'1' * 5000} ５五角(88)\n", f"a.kif, line 2, move 1: not a move: '{'1' * 60}...'"),
        ("a.usi", "\n# none\n", "a.usi: the file holds no game"),
    ],
    ids=range(11),
)
def test_faulty_text(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert faults_of(path) == [message]


@pytest.mark.parametrize(
    ("moves", "end", "result"),
    [
        ("+7776FU\n", "TORYO", 1), ("+7776FU\n-3334FU\n", "TIME_UP", -1), ("", "TSUMI", -1), ("", "KACHI", 1),
        ("+7776FU\n", "KACHI", -1), ("", "+ILLEGAL_ACTION", -1), ("+7776FU\n", "-ILLEGAL_ACTION", 1),
        ("", "SENNICHITE", 0), ("", "MAX_MOVES", 0), ("", "CHUDAN", None), ("", "ERROR", None),
        ("P1 *  *  *  * -OU *  *  *  * \nP+00AL\n-\n-5142OU\n", "TORYO", -1),
    ],
)  # fmt: skip
def test_results(moves: str, end: str, result: int | None) -> None:
    assert csa.read(f"{moves}%{end}\n").result == result
    assert csa.read(moves).result is None


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("先手の勝ち", 1), ("切断により後手の勝ち", -1), ("下手の負け", -1), ("お茶の時間", None), ("不戦勝", 1),
        ("不戦敗", -1), ("後手の時間切れ負け", 1), ("先手の切断負け", -1), ("先手の投了", -1),
        ("後手の入玉宣言勝ち", -1), ("後手の不戦勝", -1), ("△の勝ち", -1), ("▲の勝ち", 1),
    ],
)  # fmt: skip
def test_results_in_words(words: str, result: int | None) -> None:
    """Black is to move: CSA has no name for a game that the side to move won."""
    record = kakinoki.read(f"手合割：平手\nまで0手で{words}\n")
    assert record.result == kakinoki.read(kif.write_kif(record)).result == result


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "none.kif") == ["none.kif: No such file or directory"]
    binary = tmp_path / "binary.kif"
    binary.write_bytes(bytes(range(128, 256)))
    assert faults_of(binary) == ["binary.kif: neither UTF-8 nor Shift-JIS nor EUC-JP text"]
    with binary.open("wb") as file:
        file.truncate(LARGEST_TEXT + 1)
    assert faults_of(binary) == ["binary.kif: more than 64 MB of text; split the file"]


def test_moves_in_japanese() -> None:
    """From a start that KIF draws as a diagram too; the names end at an illegal move."""
    board, moves = Board(NO_GAME_START), ["G*5b", "5i5h", "5b5c"]
    names = [move.text for move in name_moves(board, moves, marked_kif)]
    assert names == ["△５二金打", "▲５八玉(59)", "△５三金(52)"]
    assert [move.text for move in name_moves(board, ["G*5b", "5b5c"])] == ["△５二金"]


@pytest.mark.parametrize("sfen, move, expected", [
    (None, "7g7f", "▲P-7f"), (None, "4i5h", "▲G4i-5h"), (None, "5i5h", "▲K-5h"),
    ("4k4/P8/9/9/9/9/9/9/4K4 b P 1", "9b9a+", "▲P-9a+"), ("4k4/9/S8/9/9/9/9/9/4K4 b - 1", "9c8d", "▲S-8d="),
    ("4k4/9/9/9/9/9/9/p8/L3K4 w - 1", "9h9i+", "△Px9i+"), ("4k4/9/9/9/9/9/9/1+r7/4K4 w - 1", "8h7h", "△+R-7h"),
    ("4k4/9/9/9/9/9/6S2/9/4K4 b S 1", "S*4f", "▲S*4f"), ("4k4/9/9/9/9/9/6S2/9/4K4 b S 1", "3g4f", "▲S-4f"),
])  # fmt: skip
def test_moves_in_western_notation(sfen: str | None, move: str, expected: str) -> None:
    """The origin only if another piece of the kind could move there, `=` only if it could promote."""
    board = Board(sfen) if sfen else Board()
    assert western_text(board, move) == expected
    language.choose("ja")
    japanese = move_text(board, move)
    language.choose("en")
    assert (japanese, move_text(board, move)) == (japanese_text(board, move), expected)
