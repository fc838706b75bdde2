"""The round robin of the levels; tunable constants."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.strength import levels
from core_ext.board import Board
from core_ext.engine import tunables
from tests.shogi.slow_shogi import START
from usi_engine.match.elo import elo
from usi_engine.search import timeman
from usi_engine.usi.process import EngineProcess


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
    def run(line: str) -> None:
        monkeypatch.setattr(sys, "argv", ["levels", *line.split(), "--keep", str(tmp_path)])
        levels.run(levels.parse())

    monkeypatch.setattr(levels, "LONGEST", 30)
    with pytest.raises(ValueError, match="two or more"):
        run("--levels 4")
    line = "--levels 0 1 --games 2 --neighbours 2"
    run(line)
    record = (tmp_path / "games.jsonl").read_text(encoding="utf-8")
    assert len(record.splitlines()) == 1 + 3
    run(f"{line} --figure {tmp_path / 'levels.json'}")
    assert (tmp_path / "games.jsonl").read_text(encoding="utf-8") == record
    assert len(json.loads((tmp_path / "levels.json").read_text(encoding="utf-8"))) == 3


# ---- the engine with its constants as options ----

COMMAND = [sys.executable, "-m", "bench.strength.tunable"]
USUAL = {"EvalFile": "material", "Threads": "1", "USI_OwnBook": "false"}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    made = EngineProcess(COMMAND, USUAL)
    made.prepare()
    yield made
    made.quit()


def searched(engine: EngineProcess, limits: str, **options: int) -> list[int]:
    """Return the nodes of the first two searches of a game with these options."""
    for name, value in options.items():
        engine.set_option(name, str(value))
    engine.prepare()
    engine.new_game()
    return [engine.search("startpos moves 7g7f 3c3d", limits).nodes for _ in range(2)]


def test_constants_are_declared(engine: EngineProcess) -> None:
    name, _kind, default, least, most = tunables()[0]
    option = engine.declared[f"Tune_{name}"]
    assert (option.default, option.least, option.most) == (default, least, most)
    assert engine.declared["Tune_MOVES_AT_START"].default == 1000 * timeman.MOVES_AT_START


def test_a_constant_of_the_search_changes_it(engine: EngineProcess) -> None:
    default = int(engine.declared["Tune_LmrBase"].default)
    usual, other, again = (searched(engine, "depth 10", Tune_LmrBase=value) for value in (default, 0, default))
    assert usual == again != other


def test_a_clock_counts_nodes(engine: EngineProcess) -> None:
    """A search depends on its nodes alone; with more moves expected it is shorter. The clock of a game goes down."""
    clock = "btime 20000 wtime 20000 binc 0 winc 0"
    moves = int(engine.declared["Tune_MOVES_AT_START"].default)
    usual, again = (searched(engine, clock, NodesTime=10) for _ in range(2))
    assert usual == again and 0 < usual[1] < usual[0] < 20000 * 10
    least = int(engine.declared["Tune_MOVES_AT_LEAST"].default)
    late = searched(engine, clock, Tune_MOVES_AT_START=40 * moves, Tune_MOVES_AT_LEAST=40 * least)
    assert 10 * late[0] < usual[0]
    searched(engine, clock, Tune_MOVES_AT_START=moves, Tune_MOVES_AT_LEAST=least, NodesTime=0)
