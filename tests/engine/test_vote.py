"""Which worker's line is played (usi_engine/vote.py), and that a team's votes reach the answer."""

from __future__ import annotations

from usi_engine.vote import Vote, elect

DECIDED = 31000


def vote(move: str, value: int, depth: int = 10) -> Vote:
    return Vote(depth, (move, "3c3d"), value, depth + 2)


def test_alone_the_leader_decides() -> None:
    assert elect([vote("7g7f", -50)], DECIDED).move == "7g7f"


def test_ties_go_to_the_leader() -> None:
    assert elect([vote("7g7f", 30), vote("2g2f", 30)], DECIDED).move == "7g7f"


def test_two_agree_against_one() -> None:
    votes = [vote("7g7f", 30), vote("2g2f", 30, 11), vote("2g2f", 28)]
    assert elect(votes, DECIDED) == votes[1]


def test_a_deeper_and_better_line_wins() -> None:
    assert elect([vote("7g7f", 10, 9), vote("2g2f", 90, 11)], DECIDED).move == "2g2f"
    assert elect([vote("7g7f", 90, 9), vote("2g2f", 10, 11)], DECIDED).move == "7g7f"


def test_a_proved_win_goes_before_all_the_shortest_first() -> None:
    votes = [vote("7g7f", 3000, 30), vote("2g2f", 31990), vote("5g5f", 31997)]
    assert elect(votes, DECIDED).move == "5g5f"


def test_a_proved_loss_is_left_where_another_move_is_open() -> None:
    assert elect([vote("7g7f", -31990, 20), vote("2g2f", -900, 5)], DECIDED).move == "2g2f"
    assert elect([vote("7g7f", -31990, 20), vote("2g2f", -31980, 25)], DECIDED).move == "7g7f"
