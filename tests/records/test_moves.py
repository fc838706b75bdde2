"""Names of moves: KI2 is read back as rsshogi and we write it; Japanese and western notation."""

import random
from pathlib import Path

import pytest
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.shogi.ki2 import MOVE, candidates, ki2_text
from core_ext.shogi.notation import KANJI_RANKS, WIDE_FILES
from tests.positions import described_rows
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
