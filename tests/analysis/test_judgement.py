"""Chances, losses, grades, accuracy, totals; tactics of lines, and the sentences made of them."""

import statistics

import pytest

from core_ext.engine import MATE_BOUND
from tests.positions import MATE_IN_ONE, described_rows
from tests.records.common import TWO_PIECES, explained, japanese, judged, judgement, mating, valued
from usi_engine.analysis.analyst import EFFORT, SMALL_EFFORT, confirm
from usi_engine.analysis.judgement import GRADES, Judgement, accuracy, game_accuracy, judge, percent, totals, weigh
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import page_data
from usi_engine.analysis.reasons import pieces
from usi_engine.analysis.tactics import escapes, find_tactic, play_out, threatens
from usi_engine.core import load_core
from usi_engine.search.results import winning_chance


def test_winning_chance() -> None:
    assert winning_chance(0) == 0.5
    assert winning_chance(600) == pytest.approx(0.7311, abs=1e-4)
    assert winning_chance(600) + winning_chance(-600) == pytest.approx(1)
    assert (winning_chance(31999), winning_chance(-31999)) == (1.0, 0.0)
    assert all(percent(value) + percent(-value) == 100 for value in range(0, 4000, 7))


@pytest.mark.parametrize("value, grade", [(0, None), (100, None), (119, None), (122, "inaccuracy"), (242, "inaccuracy"),
                                          (243, "dubious"), (600, "mistake"), (31990, "blunder")])  # fmt: skip
def test_grades_by_what_the_move_gave_the_opponent(value: int, grade: str | None) -> None:
    """The position was even; after the move the opponent has `value`."""
    move = judgement("7g7f", valued(0, "2g2f"), valued(value))
    assert (move.grade.name if move.grade else None) == grade
    assert move.loss == round(percent(value) - 50, 1)


def test_grades_and_losses_agree_at_every_value() -> None:
    """Only one number is rounded: no loss is shown with the grade of another."""
    for value in range(0, 4000, 3):
        move = judgement("7g7f", valued(0, "2g2f"), valued(value))
        shown = float(f"{move.loss:.1f}")
        assert move.grade == next((grade for grade in GRADES if shown >= grade.least), None)


def test_the_best_move_and_better_ones_lose_nothing() -> None:
    results = [valued(0, "7g7f"), valued(300, "8c8d"), valued(-500)]
    assert judgement("7g7f", *results[:2]) == Judgement(0, best=True)
    assert judgement("7g7f 3c3d", *results) == Judgement(0, best=False)
    assert not judgement("7g7f 3c3d", *results).has_better
    assert judge(judged("7g7f", *results[:2]).root) is None


@pytest.mark.parametrize("loss, expected", [(0, 100), (0.1, 99.55), (5, 79.82), (10, 63.58), (50, 8.53), (100, 0)])
def test_accuracy_is_that_of_lichess(loss: float, expected: float) -> None:
    assert accuracy(loss) == pytest.approx(expected, abs=0.01)


def test_accuracy_of_a_game() -> None:
    """Calm moves count half, wild ones up to twelve; a window has 2 to 8 chances."""
    chances = [50.0, 50.0, 90.0, 10.0, 10.0]
    assert weigh(chances) == [0.5, 12, 12, 0.5]
    waves = [float(50 + 3 * (ply % 5)) for ply in range(61)]
    weights = weigh(waves)
    assert len(weights) == 60
    assert weights[:5] == pytest.approx([statistics.pstdev(waves[:6])] * 5)  # windows of a tenth of the moves
    assert weights[-1] == pytest.approx(statistics.pstdev(waves[-6:]))
    low, high = 60.0, 90.0
    mean = ((low * 1 + high * 3) / 4 + 2 / (1 / low + 1 / high)) / 2
    assert game_accuracy([low, high], [1, 3]) == round(mean, 1)
    assert game_accuracy([], []) is None


def test_totals_are_each_sides_own() -> None:
    game = judged("7g7f 3c3d 1g1f", valued(0, "2g2f"), valued(600, "3c3d"), valued(-600, "2g2f"), valued(31999))
    black, white = totals(game, 0), totals(game, 1)
    assert (black.moves, black.best, white.moves, white.best) == (2, 0, 1, 1)
    assert (black.grades["mistake"], black.grades["blunder"]) == (2, 0)
    assert (white.mean_loss, white.accuracy) == (0, 100)
    losses = [move.loss for move in map(judge, game.main_line[::2]) if move]
    assert black.mean_loss == round(sum(losses) / 2, 1)
    white_begins = judged(f"sfen {TWO_PIECES} moves 7a6b", valued(0, "7a6b"), valued(0))
    assert [(one.moves, one.accuracy) for one in (totals(white_begins, 0), totals(white_begins, 1))] == [
        (0, None), (1, 100)
    ]  # fmt: skip


# ---- explanations ----


def test_a_better_line_needs_a_loss() -> None:
    """The search preferred another move with +2075; the move played mates in 14: nothing was better."""
    values = valued(2075, "2g2f"), mating(-13, "3c3d")
    assert judgement("7g7f", *values) == Judgement(0, best=False)
    assert explained(judged("7g7f", *values)) == []
    noise = judgement("7g7f", valued(30, "2g2f"), valued(-20, "3c3d"))
    assert (noise.loss, noise.has_better) == (0.4, False)
    assert judgement("7g7f", valued(30, "2g2f"), valued(300, "3c3d")).has_better


def test_mates_missed_and_allowed() -> None:
    start = f"sfen {MATE_IN_ONE} moves "
    small = mating(3, "G*5b"), valued(-4000, "5a5b")
    assert judgement(f"{start}5c5b+", *small) == Judgement(0.1, best=False, missed_mate=3)
    for text, before, after, sentences in (
        (f"{start}5c5b+", mating(1, "G*5b"), valued(700, "5a5b"), ["Missed mate in 1."]),
        (f"{start}5c5b+", *small, ["Missed mate in 3."]),
        (f"{start}5c5b+", mating(1, "G*5b"), mating(-4, "5a5b"), []),
        (f"{start}5c5b+", mating(1, "G*5b"), mating(7, "5a5b"), ["Missed mate in 1.", "Walked into mate in 7."]),
        ("7g7f", valued(200, "2g2f"), mating(5, "3c3d"), ["Walked into mate in 5."]),
        ("7g7f", valued(-900, "2g2f"), mating(5, "3c3d"), ["Allows mate in 5."]),
        ("7g7f", mating(-5, "2g2f"), mating(5, "3c3d"), []),
    ):
        assert explained(judged(text, before, after)) == sentences


def test_a_win_by_rule_is_said() -> None:
    """Its value is 20000 wherever it is shown."""
    game = judged("7g7f", valued(0, "7g7f"), valued(MATE_BOUND - 1))
    assert explained(game) == ["White wins by declaration (entering king)."]
    text = kif_text(game)
    assert "*【入玉宣言】後手の勝ち\n" in text
    assert text.endswith("*#評価値=-20000\n")
    assert text.count("評価値 -20000") == 1
    assert page_data(game, "")["nodes"][1]["text"] == "-20000"


@pytest.mark.parametrize("text, better, answer, expected", [
    ("sfen 4k4/9/9/4s4/4p4/9/9/9/4R3K b - 1 moves 5i5e", "5i5h", "5d5e", ["Loses a rook for a pawn."]),
    ("sfen 4k4/9/9/9/9/2b6/9/9/5R2K b - 1 moves 4i4h", "4i5i", "7f6g",
     ["Misses ☗R-5i, which gives check."]),
    ("sfen 4k4/9/9/9/9/3b5/9/9/3R4K b - 1 moves 6i3i", "6i6f", "6f3i+",
     ["Allows ☖Bx3i+, which takes the rook for nothing."]),
    ("sfen 4k4/9/9/9/9/3b5/9/9/3R4K b - 1 moves 6i6h", "6i6f", "6f7g",
     ["Misses ☗Rx6f, which takes the bishop for nothing."]),
    # 二枚換え: a rook for a bishop and a silver.
    ("sfen 4k4/9/4b4/4s4/9/9/4R4/9/8K w - 1 moves 5a4a", "5a6b", "5g5d 4a4b 5d5c+ 4b5c",
     ["Loses a bishop and a silver for a rook, two for one."]),
])  # fmt: skip
def test_material(text: str, better: str, answer: str, expected: list[str]) -> None:
    game = judged(text, valued(500, better), valued(500, *answer.split()))
    assert explained(game) == expected


def test_an_unfinished_exchange_is_not_counted() -> None:
    board = load_core().board("4k4/9/4p4/4s4/4p4/9/9/9/4R3K b - 1")
    played = play_out(board, ["5i5e", "5d5e"])
    assert (played.balance, pieces(played.won), pieces(played.lost + played.lost)) == (-9, "a pawn", "two rooks")
    guarded = load_core().board("4k4/9/4p4/4s4/4p4/3B5/9/9/4R3K b - 1")
    assert play_out(guarded, ["5i5e", "5d5e"]).balance == 1  # the bishop takes back
    assert play_out(guarded, ["5i5e", "5d5e", "6f5e"]).balance == -4


def test_what_is_won_back_later_is_said_apart() -> None:
    """The first exchange is over after two quiet plies; the end of the line may take it back."""
    board = load_core().board("4k4/9/9/3s5/4p4/9/9/9/R3R3K b - 1")
    line = ["5i5e", "6d5e", "9i9h", "5a4a", "9h5h", "4a3a", "5h5e"]
    found = play_out(board, line)
    assert (found.balance, found.final) == (-9, -4)


@pytest.mark.parametrize(("name", "sfen", "line", "expected"), described_rows("tactics.jsonl"))
def test_tactics(name: str, sfen: str, line: str, expected: list[str] | None) -> None:
    found = find_tactic(load_core().board(sfen), line.split())
    assert (found and [found[0], [*found[1]]]) == expected, name


def test_squares_of_a_king() -> None:
    board = load_core().board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    assert (escapes(board, 1), escapes(board, 0)) == (4, 5)  # the pawn guards 5b
    assert escapes(load_core().board("9/9/9/9/9/9/9/9/4K4 b - 1"), 1) == 0


@pytest.mark.parametrize("sfen, line, expected", [
    ("4k4/9/9/4s4/9/9/9/9/4K4 b R 1", "R*5h 5a4a 5h5d", "5h5d"),
    ("4k4/9/9/4l4/9/9/9/9/3K5 b R 1", "R*5h 5a4a 5h5g", None),  # a quiet move is no threat
    ("8k/9/9/4l4/9/9/9/9/3K5 b R 1", "R*2h 1a1b 2h2c+", "2h2c+"),
    ("4k4/9/9/9/9/9/9/9/4K4 b R 1", "R*5h 5a4a 5h5d", None),  # a check is answered, not threatened
])  # fmt: skip
def test_threats(sfen: str, line: str, expected: str | None) -> None:
    assert threatens(load_core().board(sfen), line.split()) == expected


@pytest.mark.parametrize("text, better, reply, english, in_japanese", described_rows("bad_moves.jsonl"))
def test_sentences(text: str, better: str, reply: str, english: list[str], in_japanese: list[str]) -> None:
    """The last move is bad: the better line of the position before it, what follows it."""
    game = judged(text, valued(500, *better.split()), valued(600, *reply.split()))
    assert explained(game) == english
    with japanese():
        assert explained(game) == in_japanese


def test_a_positional_reason_needs_both_searches() -> None:
    """The shorter search expects another reply, or one that has no such effect."""
    game = judged("sfen 4k4/9/9/9/9/9/9/9/R3K4 b g 1 moves 5i4i", valued(500, "5i5h"), valued(600, "G*8h"))
    game.root.last().quick = valued(600, "G*1a")
    assert explained(game) == []


def test_a_material_reason_needs_both_searches() -> None:
    """The second search agrees, or nothing is said of material."""
    for quick, said in (("5i5d 7a7b", True), ("1i1h 7a7b", False)):
        game = judged("sfen 3k5/9/9/4s4/9/9/9/9/4R3K w - 1 moves 6a7a", valued(0, "5d6e"), valued(700, "5i5d", "7a7b"))
        game.root.last().quick = valued(700, *quick.split())
        assert ("takes the silver for nothing" in " ".join(explained(game))) == said


def test_bad_moves_are_searched_again() -> None:
    """A small loss may turn out to be noise; what becomes large is searched longer still."""
    game = judged("7g7f 3c3d 2g2f", valued(0, "2g2f"), valued(130, "8c8d"), valued(-130, "2g2f"), valued(130))
    asked = list[tuple[int, int]]()

    def search(number: int, _board: object, effort: int) -> object:
        asked.append((number, effort))
        return valued({0: 0, 1: 300 if effort == EFFORT else 260}.get(number, 0), "2g2f" if number != 1 else "3c3d")

    nodes = list(confirm(game, search))  # type: ignore[arg-type]
    assert [effort for number, effort in asked if number == 0] == [SMALL_EFFORT, EFFORT]
    assert len(nodes) == len(asked)
    assert game.root.quick == valued(0, "2g2f")
