"""Reading game records: every format, encodings, handicaps, faults with their place; names of moves."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.shogi.ki2 import MOVE, candidates, ki2_text
from core_ext.shogi.notation import KANJI_RANKS, WIDE_FILES
from tests.positions import described_rows, random_boards
from tests.records.common import GAMES, MOVES, RECORDS, faults_of, game_of
from usi_engine import Game, language, parse_record
from usi_engine.records import csa, kif
from usi_engine.records.formats import LARGEST_TEXT, decoded
from usi_engine.records.games import read_games
from usi_engine.records.notation import japanese_text, marked_kif, move_text, name_moves, western_text


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


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.kif", "", "a.kif: the file holds no game"),
        ("a.kif", "hello\n", "a.kif: the file holds no game"),
        ("a.txt", "hello\n", "a.txt: not a game record of a known format (KIF, KI2, CSA, JKF, USI)"),
        ("a.csa", "PI\n+\n+7776FU\n/\nPI\n+\n+7775FU\n", "a.csa, line 7, move 1: illegal move: '+7775FU'"),
        ("a.jkf", "[" * 200000, "a.jkf, record: not JSON of a record: nested too deeply"),
        ("a.kif", f"手合割：平手\n{'1' * 5000} ５五角(88)\n", f"a.kif, line 2, move 1: not a move: '{'1' * 60}...'"),
        ("a.usi", "\n# none\n", "a.usi: the file holds no game"),
    ],
    ids=range(7),
)
def test_faulty_text(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert faults_of(path) == [message]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "none.kif") == ["none.kif: No such file or directory"]
    binary = tmp_path / "binary.kif"
    binary.write_bytes(bytes(range(128, 256)))
    assert faults_of(binary) == ["binary.kif: neither UTF-8 nor Shift-JIS nor EUC-JP text"]
    with binary.open("wb") as file:
        file.truncate(LARGEST_TEXT + 1)
    assert faults_of(binary) == ["binary.kif: more than 64 MB of text; split the file"]


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


@pytest.mark.parametrize("kind", ["kif", "ki2", "csa", "jkf", "usi"])
def test_python_reads_and_writes_records(kind: str) -> None:
    """Python can read and write what `convert` can."""
    start = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    game = Game.from_moves(["4a3b", "7g7f"], start, {"下手": "太郎", "上手": ""}, "TORYO")
    assert (game.board().moves(), game.result, game.players) == (["4a3b", "7g7f"], 1, ("太郎", ""))
    again = parse_record(game.to(kind))
    assert (again.kind, again.start, again.moves) == (kind, start, game.moves)
    assert kind == "usi" or (again.players, again.end) == (game.players, game.end)
    assert game.board(-1) == game.board(1)
    for plies in (3, -3, 999):
        with pytest.raises(IndexError, match=f"2 moves, not {plies}"):
            game.board(plies)


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (lambda: parse_record("hello"), "text: not a game record of a known format"),
        (lambda: parse_record("PI\n+\n+7776FU\n+7675FU\n"), "text, line 4, move 2: a move of the other side"),
        (lambda: parse_record("7g7f\n2g2f\n"), "the text holds 2 games"),
        (lambda: Game.from_moves(["7g7e"]), "illegal move '7g7e'"),
        (lambda: Game.from_moves([], end="WON"), "not an end: 'WON'; one of .*TORYO"),
        (lambda: Game.from_moves(["7g7f"]).to("pgn"), "not a format: 'pgn'; one of kif, ki2, csa, jkf, usi"),
    ],
    ids=range(6),
)
def test_faults_of_texts_and_moves(faulty: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        faulty()


def test_several_processes_read_a_folder_as_one() -> None:
    """The games, with variations, times and comments, and the faults come in the same order."""
    found: list[list[str]] = []
    for workers in (1, 2):
        items = list(read_games(RECORDS, workers))
        found.append([item.to("kif") + item.name if isinstance(item, Game) else str(item) for item in items])
    assert found[0] == found[1] and len(found[0]) > 20
    with pytest.raises(ValueError, match="max_workers"):
        list(read_games(RECORDS, 0))


def test_a_long_game_is_pickled_and_copied() -> None:
    game = Game.from_moves(["7g7f", "3c3d"] + ["2h3h", "8b7b", "3h2h", "7b8b"] * 500, end="CHUDAN")
    game.root.variations[0].comment, game.main_line[5].milliseconds = "a", 7
    game.root.add("2g2f", 3, "b").add("8c8d")
    for again in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game)):
        assert again.to("kif") == game.to("kif") and again.path == game.path
        assert again.root is not game.root and again.times == game.times


# ---- names of moves ----

NO_GAME_START = "4k4/9/9/9/9/9/9/9/4K4 w Gg 1"


@pytest.mark.parametrize("seed", range(4))
def test_random_games_are_read_back(seed: int, tmp_path: Path) -> None:
    moves, path = [*random_boards(seed, 200, include_all=True)][-1].moves(), tmp_path / "game.ki2u"
    path.write_text(Record.from_usi_main_line(Board().sfen(), moves).to_ki2(), encoding="utf-8")
    game = game_of(path)
    path.write_text(kif.write_ki2(game.record), encoding="utf-8")
    assert list(game.moves) == list(game_of(path).moves) == moves


@pytest.mark.parametrize(("sfen", "square", "words"), described_rows("ki2_words.jsonl"))
def test_geometry_tells_pieces_apart(sfen: str, square: str, words: dict[str, str]) -> None:
    """Black's golds or dragons and a target: each piece's words, the shortest first; a pinned piece has some too."""
    board = Board(f"{sfen} b - 1")
    for origin, texts in words.items():
        place = WIDE_FILES[int(square[0]) - 1] + KANJI_RANKS["abcdefghi".index(square[1])]
        name = {"G": "金", "S": "銀", "+R": "龍", "+B": "馬"}[str(board.piece_at(origin))]
        if board.is_legal(origin + square):
            assert ki2_text(board, origin + square) == f"▲{place}{name}{texts.split()[0]}"
        for word in texts.split():
            match = MOVE.fullmatch(f"▲{place}{name}{word}")
            assert match is not None
            assert candidates(match, board) == [origin + square] * board.is_legal(origin + square)


def test_moves_in_japanese() -> None:
    """From a start that KIF draws as a diagram too; the names end at an illegal move."""
    board, moves = Board(NO_GAME_START), ["G*5b", "5i5h", "5b5c"]
    names = [move.text for move in name_moves(board, moves, marked_kif)]
    assert names == ["△５二金打", "▲５八玉(59)", "△５三金(52)"]
    assert [move.text for move in name_moves(board, ["G*5b", "5b5c"])] == ["△５二金"]


@pytest.mark.parametrize(("sfen", "move", "expected"), described_rows("western_moves.jsonl"))
def test_moves_in_western_notation(sfen: str | None, move: str, expected: str) -> None:
    """The origin only if another piece of the kind could move there, `=` only if it could promote."""
    board = Board(sfen) if sfen else Board()
    assert western_text(board, move) == expected
    language.choose("ja")
    japanese = move_text(board, move)
    language.choose("en")
    assert (japanese, move_text(board, move)) == (japanese_text(board, move), expected)
