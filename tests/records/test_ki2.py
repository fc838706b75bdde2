"""KI2's moves: what rsshogi writes is read back, whatever else a text may hold."""

import random
from pathlib import Path

import pytest
from rsshogi.record import Record

from core_ext.board import Board
from tests.records.common import faults_of, game_of

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
    record = Record.from_usi_main_line(Board().sfen(), moves)
    path.write_text(record.to_ki2(), encoding="utf-8")
    assert list(game_of(path).moves) == moves


@pytest.mark.parametrize(
    "text",
    [
        "▲7六歩 △3四歩 ▲2二角成 △同銀",
        "☗７六歩☖３四歩☗２二角成☖同　銀",
        "７六歩 ３四歩 ２二角成 同銀上",
        "▲ ７六歩 ▽３四歩\n▲２二角成\n▽同　銀",
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
        ("▲７六歩\n同じく", 2, "not a move", "同じく"),
    ],
)
def test_faults(text: str, move: int, reason: str, quoted: str, tmp_path: Path) -> None:
    """rsshogi ends the whole program at some of these."""
    path = tmp_path / "game.ki2u"
    path.write_text(f"{HEAD}{text}\n", encoding="utf-8")
    line = 1 + len(text.splitlines())
    assert faults_of(path) == [f"game.ki2u, line {line}, move {move}: {reason}: '{quoted}'"]


def test_variations_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "game.ki2u"
    path.write_text(f"{HEAD}*before\n▲７六歩\n*after\n△３四歩\n\n変化：2手\n△８二銀\n", encoding="utf-8")
    game = game_of(path)
    assert game.moves == ("7g7f", "3c3d")
    assert (game.record.initial_comment, game.record.moves[0].comment) == ("before", "after")
