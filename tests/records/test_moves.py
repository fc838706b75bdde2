"""Names of moves: KI2 is read back as rsshogi and we write it; Japanese and western notation."""

import random
from pathlib import Path

import pytest
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.shogi.ki2 import MOVE, candidates, ki2_text
from core_ext.shogi.notation import KANJI_RANKS, WIDE_FILES
from tests.records.common import game_of
from usi_engine import language
from usi_engine.records import kif
from usi_engine.records.notation import japanese_text, marked_kif, move_text, name_moves, western_text

NO_GAME_START = "4k4/9/9/9/9/9/9/9/4K4 w Gg 1"


def random_game(seed: int, plies: int) -> list[str]:
    rng, board, moves = random.Random(seed), Board(), list[str]()
    while len(moves) < plies and board.legal_moves():
        moves.append(rng.choice(board.legal_moves(include_all=True)))
        board.push(moves[-1])
    return moves


@pytest.mark.parametrize("seed", range(4))
def test_random_games_are_read_back(seed: int, tmp_path: Path) -> None:
    moves, path = random_game(seed, 250), tmp_path / "game.ki2u"
    path.write_text(Record.from_usi_main_line(Board().sfen(), moves).to_ki2(), encoding="utf-8")
    game = game_of(path)
    path.write_text(kif.write_ki2(game.record), encoding="utf-8")
    assert list(game.moves) == list(game_of(path).moves) == moves


# Black's golds or dragons and a target: each piece's words, the shortest first. A * marks a pinned piece.
@pytest.mark.parametrize(
    ("sfen", "square", "words"),
    [
        ("4k4/9/9/9/9/9/9/4G4/3G4K", "6h", {"5h": "寄 右 右寄", "6i": "上 直"}),
        ("4k4/9/9/9/9/9/9/9/2GGG3K", "6h", {"5i": "右 右上", "6i": "直", "7i": "左 左上"}),
        ("4k4/9/9/9/9/9/2S1S4/9/2S1S3K", "6h", {"5g": "右引", "7g": "左引", "7i": "左上", "5i": "右上"}),
        ("4k4/9/9/9/9/9/9/3+R4+R/8K", "4h", {"6h": "左", "1h": "右"}),
        ("k8/9/9/9/3+R5/9/9/9/4+R3K", "5d", {"6e": "左", "5i": "右"}),
        ("4k4/9/9/9/9/3+B1+B3/9/9/8K", "5e", {"6f": "左", "4f": "右"}),
        ("4k4/9/9/9/9/9/3r5/3G5/3K1G3", "5h", {"6h": "寄 左", "4i": "上 右"}),
    ],
)
def test_geometry_tells_pieces_apart(sfen: str, square: str, words: dict[str, str]) -> None:
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
