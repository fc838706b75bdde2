"""Tactics of lines on small positions, and the sentences made of them."""

import pytest

from tests.analysis.common import explained, japanese, judged
from tests.records.common import valued
from usi_engine.analysis.analyst import EFFORT, SMALL_EFFORT, confirm
from usi_engine.analysis.tactics import Tactic, escapes, find_tactic, threatens
from usi_engine.core import load_core


@pytest.mark.parametrize("sfen, line, expected", [
    ("4k4/9/9/9/9/2r1g4/9/9/4K4 b N 1", "N*4h 7f7g 4h5f", None),  # no piece is attacked
    ("4k4/9/9/2r1g4/9/9/9/9/4K4 b N 1", "N*6f 7d7e 6f5d", ("fork", ("R", "G"))),
    ("4k4/9/9/2r1g4/9/9/9/9/4K4 b N 1", "N*6f 7d7e 5i5h", None),  # nothing is taken
    ("4k4/9/9/2rpg4/3p5/9/9/9/4K4 b N 1", "N*6f 6e6f 5i5h", None),  # it is taken
    ("4k4/4s4/9/9/9/9/9/9/4K4 b L 1", "L*5e 5a4a 5e5b+", ("pin", ("S", "K"))),
    ("9/4s4/4r3k/9/9/9/9/9/4K4 b L 1", "L*5e 5c6c 5e5b+", ("skewer", ("R", "S"))),
    ("4k4/9/9/4s4/9/9/9/9/4R3K b - 1", "5i5d 5a4a", ("hanging", ("S",))),
    ("4k4/9/4l4/4s4/9/9/9/9/4R3K b - 1", "5i5d 5c5d", None),  # guarded
])  # fmt: skip
def test_tactics(sfen: str, line: str, expected: Tactic | None) -> None:
    assert find_tactic(load_core().board(sfen), line.split()) == expected


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


# The second move is bad: the better line of the position before it, what follows it, the sentences.
BAD_MOVES = [
    ("sfen 4k4/9/9/2r1g4/9/9/9/9/4K4 w N 1 moves 5a4a", "7d7h", "N*6f 7d7e 6f5d 7e7f",
     ["Allows ☗N*6f, a fork of rook and gold.", "Loses a gold."], ["☗６六桂（飛車・金の両取り）を許した", "金損"]),
    ("sfen 4k4/9/9/9/9/9/6r2/9/K3P4 b G 1 moves 9i8i", "G*4i", "3g3i+",
     ["Allows ☖R-3i+, which ☗G*4i prevents."], ["☖３九飛成（☗４九金なら防げた）を許した"]),
    ("sfen 4k4/9/9/9/9/9/4p4/9/4K4 b Gg 1 moves G*9a", "5i6i", "G*5h",
     ["Allows ☖G*5h, which takes 4 squares from the king."], ["☖５八金（玉の逃げ場を4つ奪う手）を許した"]),
    ("sfen 4k1l2/9/9/9/9/9/9/9/K8 b 2Gg 1 moves G*1a", "G*3h", "G*3g",
     ["Allows ☖G*3g, a square that ☗G*3h guards."], ["☖３七金（☗３八金なら守れたマス）を許した"]),
    ("sfen 4k4/9/9/9/9/9/9/9/R3K4 b g 1 moves 5i4i", "5i5h", "G*8h",
     ["Allows ☖G*8h, which attacks the rook."], ["☖８八金（飛車取りになる手）を許した"]),
    ("sfen 4k4/9/9/9/9/9/4p4/9/4K4 b Rg 1 moves 5i6i", "R*5e", "G*1a",
     ["Misses ☗R*5e, which gives check."], ["☗５五飛（王手になる手）を逃した"]),
    ("sfen 4k4/9/9/9/9/9/9/4G4/K8 b g 1 moves 5h5i", "9i8i", "G*5g",
     ["Allows ☖G*5g, which was prevented before."], ["☖５七金（それまでは防げていた手）を許した"]),
    ("sfen l3k4/9/p8/9/P8/9/9/9/4K4 b - 1 moves 9e9d", "5i5h", "9c9d",
     ["Allows ☖Px9d, which takes the pawn."], ["☖同歩（歩を取る手）を許した"]),
    ("sfen 4k4/9/9/4p4/4S4/9/9/9/4K4 b - 1 moves 5i4i", "5e6f", "5a4a",
     ["Misses ☗S-6f, which saves the silver."], ["☗６六銀（銀取りをかわす手）を逃した"]),
    ("sfen 4k4/9/2g6/9/2s6/9/9/9/4K3R b - 1 moves 1i1e", "5i5h", "7c7d",
     ["Allows ☖G-7d, which guards the silver."], ["☖７四金（銀にヒモを付ける手）を許した"]),
    ("sfen 4k4/9/9/9/9/5p3/9/9/4K4 b G 1 moves G*9a", "5i6i", "4f4g+",
     ["Allows ☖P-4g+, which promotes near the king."], ["☖４七歩成（玉の近くで成る手）を許した"]),
]  # fmt: skip


@pytest.mark.parametrize("text, better, reply, english, in_japanese", BAD_MOVES)
def test_sentences(text: str, better: str, reply: str, english: list[str], in_japanese: list[str]) -> None:
    game = judged(text, valued(500, *better.split()), valued(600, *reply.split()))
    assert explained(game) == english
    with japanese():
        assert explained(game) == in_japanese


def test_a_positional_reason_needs_both_searches() -> None:
    """The shorter search expects another reply, or one that has no such effect."""
    game = judged("sfen 4k4/9/9/9/9/9/9/9/R3K4 b g 1 moves 5i4i", valued(500, "5i5h"), valued(600, "G*8h"))
    game.root.last().quick = valued(600, "G*1a")
    assert explained(game) == []


def test_two_for_one() -> None:
    """二枚換え: a rook for a bishop and a silver."""
    sfen = "sfen 4k4/9/4b4/4s4/9/9/4R4/9/8K w - 1 moves 5a4a"
    better, answer = ("5a6b",), ("5g5d", "4a4b", "5d5c+", "4b5c")
    game = judged(sfen, valued(500, *better), valued(600, *answer))
    assert explained(game) == ["Loses a bishop and a silver for a rook, two for one."]


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
