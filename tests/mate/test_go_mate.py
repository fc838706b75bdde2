"""`go mate` with the real solver, and the verification of its lines."""

import pytest

from bench.speed.mate import mates_by_checks
from core_ext.board import Board
from tests.positions import HARD_MATE
from tests.programs import run_engine
from usi_engine.api.mate_lines import is_mate
from usi_engine.mate_tool.problems import MateProblem, read_problem

GOLD = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
NO_MATE = "4k4/9/9/9/9/9/9/9/9 b P2r2b4g4s4n4l17p 1"


def test_read_problem() -> None:
    assert read_problem(f"1\t{GOLD}\tG*5b\n") == MateProblem(GOLD, 1, solution=("G*5b",))
    assert read_problem(f"{GOLD} # note\n") == MateProblem(GOLD)
    assert read_problem("# no problem") is None
    assert read_problem("\n") is None


@pytest.mark.parametrize(
    ("sfen", "line", "mates"),
    [
        ("8k/9/8P/9/9/9/9/9/4K4 b G 1", "G*1b", True),
        ("8k/9/8P/9/9/9/9/9/4K4 b 2G 1", "G*5e 1a2a 5i5h 2a1a G*1b", False),
        ("8k/9/8P/9/9/9/9/9/4K4 b G 1", "G*5e", False),
        ("8k/9/8P/9/9/9/9/9/4K4 b G 1", "", False),
        ("8k/9/8P/9/9/9/9/9/4K4 b G 1", "G*2b 1a2b", False),
    ],
)
def test_a_quiet_move_proves_no_mate(sfen: str, line: str, mates: bool) -> None:
    """Each move of the attacker gives check, also the last of the line."""
    assert is_mate(Board(sfen), line.split()) == mates_by_checks(Board(sfen), line.split()) == mates


@pytest.mark.parametrize(
    ("hand", "line", "mates"), [("2p", "1i1a+", True), ("2g", "1i1a+", False), ("2p", "5i5h 8b8c 1i1a+", False)]
)
def test_a_mate_may_allow_futile_interpositions(hand: str, line: str, mates: bool) -> None:
    """Pawns dropped before a rook that takes them with mate; a gold can guard the king."""
    board = Board(f"k8/pp7/9/9/9/9/9/9/4K3R b {hand} 1")
    assert is_mate(board, line.split()) == mates
    assert not mates_by_checks(board, line.split())


def answer(sfen: str, go: str = "go mate infinite", *options: str) -> str:
    printed = run_engine(*options, f"position sfen {sfen}", go).stdout.splitlines()
    lines = [line for line in printed if line.startswith(("checkmate", "bestmove"))]
    assert len(lines) == 1
    return lines[0]


def test_go_mate() -> None:
    assert answer(NO_MATE) == "checkmate nomate"
    assert answer("4k4/9/3GP4/9/9/9/9/4r4/4K4 b G 1") == "checkmate nomate"  # out of check
    assert answer(HARD_MATE, "go mate 300") == "checkmate timeout"
    assert answer(HARD_MATE, "go mate nodes 20000") == "checkmate timeout"


FIVE_PLIES = "8k/5G3/7G1/8S/8L/9/9/9/9 b 2r2b2g3s4n3l18p 1"
FIRST_15_SHORTEST_9 = "7nl/5kP2/3p2g1p/2p1gp3/p6s1/5BP2/PP3P2P/7R1/LNSGK2NL b RBGSN2Ps3p 1"


def test_shortest_is_the_default() -> None:
    """Five plies, and nine in a game's position whose first mate has fifteen. In the third the line of the first mate
    is as long as the shortest, but after 1h1g the mate takes fewer plies.
    """
    assert len(answer(FIVE_PLIES, "go mate infinite").split()) == 1 + 5
    assert len(answer(FIRST_15_SHORTEST_9, "go mate 60000").split()) == 1 + 9
    moves = answer("6S2/6S1L/7pB/8S/8B/7RN/8k/8N/9 b R4gs2n3l17p 1", "go mate infinite").split()
    assert moves[1:6] == ["R*2g", "1g1h", "2g2h", "1h1i", "2h2i"] and len(moves) == 1 + 11


def test_the_first_mate_alone() -> None:
    """Its nodes are those of the proof, and a shorter mate of nine plies is not looked for."""
    place, option = f"position sfen {FIRST_15_SHORTEST_9}", "setoption name MateShortest value"
    sizes = {}
    for value in ("first", "short"):
        printed = run_engine("setoption name Threads value 1", f"{option} {value}", place, "go mate infinite").stdout
        *_, info, mate = printed.splitlines()
        sizes[value] = len(mate.split()) - 1, int(info.split(" nodes ")[1].split()[0])
    assert sizes["first"][0] == 15 and sizes["first"][1] < sizes["short"][1]


def test_the_first_mate_is_printed_as_it_comes_and_the_shortest_found_is_the_answer() -> None:
    """The node limit suffices to find a mate of nine plies, not to prove it the shortest."""
    place = f"position sfen {FIRST_15_SHORTEST_9}"
    options = ["setoption name Threads value 1", "setoption name USI_Hash value 4"]
    printed = run_engine(*options, place, "go mate nodes 30000").stdout.splitlines()
    lines = [line for line in printed if " score mate " in line]
    assert len(lines[0].split(" pv ")[1].split()) == 15
    assert len(printed[-1].split()) == 1 + 9
    assert int(printed[-2].split(" nodes ")[1].split()[0]) <= 30_000 + 200
