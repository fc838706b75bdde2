"""Levels: moves considered, errors, and play of the engine."""

import itertools
from dataclasses import replace

import pytest

from core_ext.board import Board
from tests.engine.conftest import ScriptedEngine
from tests.engine.fake_core import Script
from tests.engine.usi_transport import InProcess
from usi_engine.search import skill as skills
from usi_engine.search.results import Score, Variation
from usi_engine.search.skill import BLIND_LEVEL, FULL_STRENGTH, Skill, allows_mate, choose_line, is_tactical, skill_of
from usi_engine.search.spec import Spec, spec_of
from usi_engine.usi import info
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go

# Black mates by G*5b; anything else does not.
MATE = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"


def skill(level: int) -> Skill:
    found = skill_of(level)
    assert found is not None
    return found


def test_each_level_sees_more_than_the_one_before() -> None:
    levels = [skill(level) for level in range(FULL_STRENGTH)]
    for weaker, stronger in itertools.pairwise(levels):
        assert weaker.depth <= stronger.depth and weaker.error > stronger.error
    assert levels[0].depth == 1 and levels[-1].depth > 10 and levels[-1].lines > 1


def test_limits_of_a_go_are_narrowed() -> None:
    """They are never widened; MultiPV may ask for more lines."""
    assert skill_of(FULL_STRENGTH) is None
    wide = spec_of(Options(), Go(), Board())
    narrow = replace(wide, depth=3, nodes=500, multipv=90)
    assert limits(wide.at_level(skill(0))) == (1, skill(0).nodes, skill(0).lines)
    assert limits(narrow.at_level(skill(19))) == (3, 500, 90)


def limits(spec: Spec) -> tuple[int, int, int]:
    return spec.depth, spec.nodes, spec.multipv


def lines_for(board: Board, value: int = 0) -> list[Variation]:
    """Return all legal moves with the same value."""
    return [Variation(Score(value), (move,)) for move in board.legal_moves()]


def choices(level: int, seeds: range, board: Board, best: str, ahead: int) -> int:
    """Return in how many games of these seeds the level finds a move that is better by `ahead` centipawns."""
    lines = [Variation(Score(ahead * (line.move == best)), line.pv) for line in lines_for(board)]
    return sum(choose_line(board, lines, skill(level), seed).move == best for seed in seeds)


def test_stronger_levels_find_a_good_move_more_often() -> None:
    found = [choices(level, range(60), Board(), "7g7f", 200) for level in (0, 8, 14, 18)]
    assert found == sorted(found) and found[0] < 15 and found[-1] > 55


def test_a_game_is_consistent_and_games_differ() -> None:
    board = Board()
    moves, again = ([choose_line(board, lines_for(board), skill(3), seed).move for seed in range(40)]
                    for _ in range(2))  # fmt: skip
    assert moves == again and len(set(moves)) > 10


OPENING = Board.from_moves(["7g7f", "3c3d"])


def test_loud_moves_are_seen_sooner() -> None:
    """A capture, a promotion and a check are tactical."""
    assert all(is_tactical(OPENING, move) for move in ("8h2b", "8h2b+", "8h3c+"))
    assert not any(is_tactical(OPENING, move) for move in ("8h4d", "2g2f"))
    own, reply, none = (skills.visibility(OPENING, pv) for pv in (("8h2b+",), ("2g2f", "2b8h+"), ("2g2f", "8c8d")))
    assert own < reply < none == 1
    assert is_tactical(Board(MATE), "G*5b")


def test_a_capture_is_missed_less_often_than_a_quiet_move() -> None:
    quiet, capture = (choices(12, range(80), OPENING, best, 300) for best in ("2g2f", "8h2b+"))
    assert capture > quiet + 10


@pytest.mark.parametrize("level", [BLIND_LEVEL + 1, 12])
def test_a_mate_in_one_is_played(level: int) -> None:
    board = Board(MATE)
    for seed in range(20):
        assert choose_line(board, lines_for(board), skill(level), seed).move == "G*5b"


def test_no_mate_in_one_is_given_away() -> None:
    board = Board("4k4/9/9/9/9/9/4p4/9/4K4 b 2R2Bg3G4S4N4L17P 1")
    careless = {move for move in board.legal_moves() if allows_mate(board, move)}
    assert careless
    lines = [Variation(Score(500 * (move in careless)), (move,)) for move in board.legal_moves()]
    for seed in range(20):
        assert choose_line(board, lines, skill(BLIND_LEVEL + 1), seed).move not in careless
    assert choose_line(board, [Variation(Score(0), (min(careless),))], skill(9), 1).move == min(careless)
    assert board.moves() == []


@pytest.mark.parametrize(("level", "least", "most"), [(0, 0, 30), (BLIND_LEVEL, 0, 30), (BLIND_LEVEL + 1, 60, 60)])
def test_the_lowest_levels_overlook_mates(level: int, least: int, most: int) -> None:
    """They play a mate only by chance."""
    board = Board(MATE)
    lines = [Variation(Score((info.MATE - 1) * (move == "G*5b")), (move,)) for move in board.legal_moves()]
    found = sum(choose_line(board, lines, skill(level), seed).move == "G*5b" for seed in range(60))
    assert least <= found <= most


def test_mates_count_by_their_length() -> None:
    """A shorter mate is better, being mated later too; both are beyond any other value."""
    values = [info.MATE - 1, info.MATE - 9, 20000, 100, -20000, 8 - info.MATE, 2 - info.MATE]
    seen = [skills.certain(Score(value)) for value in values]
    assert seen == sorted(set(seen), reverse=True)


# ---- the engine ----


def test_does_not_resign_by_the_move_it_takes_for_the_best(scripted: ScriptedEngine) -> None:
    """All lines but the best are below -ResignValue, and the weakest level often takes one of those."""
    engine = scripted(Script(value=lambda depth: -480, seconds=lambda depth: 0.0))
    engine.send("setoption name SkillLevel value 0", "setoption name ResignValue value 500")
    answers = [engine.ask("usinewgame", "go byoyomi 100") for _ in range(8)]
    assert "bestmove resign" not in answers
    assert any(" cp -480 " not in line for line in engine.seen if line.startswith("info depth"))


def test_the_same_move_until_the_next_game(real: InProcess) -> None:
    """Searches in between change nothing; another game has other errors."""
    real.send("setoption name SkillLevel value 1", "setoption name USI_Hash value 4", "isready", "usinewgame")
    go = "go btime 60000 wtime 60000"
    first = real.ask("position startpos", go)
    real.ask("go infinite", answer="^info depth 6 ")
    real.ask("stop")
    assert real.ask(go) == first
    others = [real.ask("usinewgame", go) for _ in range(12)]
    assert set(others) != {first}
