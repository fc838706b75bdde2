"""KI2's moves: what rsshogi and we write is read back, whatever else a text may hold."""

import random
from pathlib import Path

import pytest
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.shogi.ki2 import MOVE, candidates, ki2_text
from core_ext.shogi.notation import KANJI_RANKS, WIDE_FILES
from tests.records.common import faults_of, game_of
from usi_engine.records import kif

HEAD = "手合割：平手\n"


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


@pytest.mark.parametrize(
    "text",
    [
        "▲7六歩 △3四歩 ▲2二角成 △同銀",
        "☗７六歩☖３四歩☗２二角成☖同　銀",
        "７六歩 ３四歩 ２二角成 同銀上",
        "▲ ７六歩 ▽３四歩\n▲２二角成\n▽同　銀",
        "▲76歩 △34歩 ▲２2角成 △同銀",
        "☗７六歩 ▽３四歩 ▼２二角成 ☖同　銀 △投了",
        "▲７六歩 △３四歩 ▲２二角成 △同銀 まで4手で後手の勝ち",
    ],
)
def test_other_ways_to_write(text: str, tmp_path: Path) -> None:
    path = tmp_path / "game.ki2u"
    path.write_text(HEAD + text + "\n", encoding="utf-8")
    assert game_of(path).moves == ("7g7f", "3c3d", "8h2b+", "3a2b")


@pytest.mark.parametrize(
    "text, move, reason, quoted",
    [
        ("▲８八銀", 1, "illegal move", "▲８八銀"),
        ("▲５五歩打", 1, "illegal move", "▲５五歩打"),
        ("▲７六歩 △８八歩", 2, "illegal move", "△８八歩"),
        ("▲７六歩 ▲２六歩", 2, "a move of the other side", "▲２六歩"),
        ("▲同歩", 1, "illegal move", "▲同歩"),
        ("▲７六歩 hello △３四歩", 2, "not a move", "hello"),
        ("▲７六歩 △５二金", 2, "ambiguous move", "△５二金"),
        ("▲７六歩\n△７ 七角成", 2, "not a move", "△７ 七角成"),
        ("▲７六歩\n７ 七角成", 2, "not a move", "７ 七角成"),
        ("▲７六歩 △投了 ▲２六歩", 2, "not a move", "▲７六歩 △投了 ▲２六歩"),
        ("▲７六歩\n同じく", 2, "not a move", "同じく"),
    ],
)
def test_faults(text: str, move: int, reason: str, quoted: str, tmp_path: Path) -> None:
    """rsshogi ends the whole program at some of these."""
    path = tmp_path / "game.ki2u"
    path.write_text(f"{HEAD}{text}\n", encoding="utf-8")
    line = 1 + len(text.splitlines())
    assert faults_of(path) == [f"game.ki2u, line {line}, move {move}: {reason}: '{quoted}'"]
