"""The round robin of the levels."""

import json
from pathlib import Path

import pytest

from bench.strength import levels
from core_ext.board import Board
from tests.bench.helpers import run_line
from tests.shogi.slow_shogi import START
from usi_engine.match.elo import elo


@pytest.fixture(scope="module")
def players() -> levels.Players:
    return levels.Players(2000, [START])


def test_the_capture_player_takes_the_most() -> None:
    assert levels.capture(Board("4k4/9/9/3p1r3/4G4/9/9/9/4K4 b - 1"), 1) == "5e4d"
    board = Board("4k4/9/4p4/3R5/9/9/9/9/4K4 b - 1")
    assert levels.gain(board, levels.capture(board, 1)) == levels.PROMOTION
    assert len({levels.capture(Board(), seed) for seed in range(50)}) > 10


def test_a_game_repeats(players: levels.Players) -> None:
    """The same seed gives the same game; points are those of the first player."""
    first = levels.play_pair(players, ((4, 0), 1))
    again = levels.play(players, START, 0, 4, 2 * levels.pair_index((4, 0), 1) + 1)
    assert again == (1 - first["points"][1], first["plies"][1])
    assert len(first["points"]) == 2
    assert sum(first["points"]) >= 1.5


def test_full_strength_and_levels_move_legally(players: levels.Players) -> None:
    board = Board()
    for level in (*range(0, 21, 4), levels.CAPTURER):
        board.push(players.move(level, board, 1))
    assert len(board.moves()) == 7


def test_neighbours_come_first_and_every_pair_once() -> None:
    order = list(levels.schedule([-1, 0, 2, 4], games=2, neighbours=4))
    near = [(0, -1), (2, 0), (4, 2)]
    assert order[:6] == [(pair, number) for number in (0, 1) for pair in near]
    assert order[6:] == [((2, -1), 0), ((4, -1), 0), ((4, 0), 0)]


def test_ratings_follow_the_scores() -> None:
    """A score of 75 % is 191 Elo, and differences add up."""
    scores: levels.Score = {(0, -1): [1.0] * 300 + [0.0] * 100, (2, 0): [1.0] * 300 + [0.0] * 100}
    assert levels.ratings(scores) == pytest.approx({-1: -elo(0.75), 0: 0.0, 2: elo(0.75)}, abs=2)


def test_a_row_has_the_score_against_the_player_before() -> None:
    rows = levels.make_rows({(0, -1): [1.0, 0.5], (2, 0): [1.0, 0.0], (2, -1): [1.0, 1.0]})
    assert [(row.level, row.games) for row in rows] == [(-1, 4), (0, 4), (2, 4)]
    assert [row.against_next and row.against_next.score for row in rows] == [None, 0.75, 0.5]
    assert [row.figures()["score"] for row in rows] == [None, 75, 50]


def test_a_round_robin_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LONGEST", 30)
    with pytest.raises(ValueError, match="two or more"):
        run_line(levels, monkeypatch, f"levels --levels 4 --keep {tmp_path}")
    line = f"levels --levels 0 1 --games 2 --neighbours 2 --keep {tmp_path}"
    run_line(levels, monkeypatch, line)
    record = (tmp_path / "games.jsonl").read_text(encoding="utf-8")
    assert len(record.splitlines()) == 1 + 3
    run_line(levels, monkeypatch, f"{line} --figure {tmp_path / 'levels.json'}")
    assert (tmp_path / "games.jsonl").read_text(encoding="utf-8") == record
    assert len(json.loads((tmp_path / "levels.json").read_text(encoding="utf-8"))) == 3
