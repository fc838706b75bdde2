"""Benches count correctly and report wrong counts, their rates are not tested; levels, constants, other tools."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench import signature
from bench.__main__ import benches
from bench.speed import mate, movegen, nnue, nps, perft, punctuality
from bench.strength import levels, openings
from core_ext.board import Board
from core_ext.engine import tunables
from tests.programs import run_command
from tests.shogi.slow_shogi import START
from usi_engine.clock import TimeControl
from usi_engine.evaluation.names import WeightsError
from usi_engine.match.elo import elo
from usi_engine.match.runs import OPENINGS
from usi_engine.records.games import opening_boards
from usi_engine.search import timeman
from usi_engine.usi.process import EngineProcess, own_engine


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Run the main function of a bench with these arguments."""
    monkeypatch.setattr(sys, "argv", ["tool", *arguments])
    return module.main()


QUIET = "4k4/9/9/9/9/4G4/9/9/4K4 b - 1"  # no mate
MATE_IN_ONE = "7k1/6P2/7G1/8L/9/9/9/9/9 b 2r2b3g4s4n3l17p 1"


def rates(printed: str) -> list[float]:
    """Return Komadori's rate in each table."""
    return [float(found) for found in re.findall(r"^ +Komadori +([0-9.]+)", printed, re.M)]


def test_perft_is_checked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(perft, monkeypatch, "--depth", "3")
    assert len(rates(capsys.readouterr().out)) == 1
    monkeypatch.setitem(perft.START_LEAVES, 3, 25471)
    with pytest.raises(SystemExit, match="perft 3 of the start position is 25470, not 25471"):
        run(perft, monkeypatch, "--depth", "3")


@pytest.mark.parametrize(("nodes", "status"), [(900, 0), (899, 1)])
def test_every_row_of_the_perft_file_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], nodes: int, status: int
) -> None:
    monkeypatch.setattr(perft, "COUNTS", tmp_path / "perft.tsv")
    perft.COUNTS.write_text(f"# name\nstart\t{START}\t1\t30\t-\nstart\t{START}\t2\t{nodes}\t-\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        run(perft, monkeypatch, "--check")
    assert ended.value.code == status
    printed = capsys.readouterr().out
    assert f"2 rows, {status} wrong; 930 leaves" in printed
    assert ("start depth 2: 900, expected 899" in printed) == bool(status)


def test_movegen_counts_the_moves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(movegen, "CALLS", 100)
    run(movegen, monkeypatch)
    assert len(rates(capsys.readouterr().out)) == 2
    with pytest.raises(SystemExit, match="not 206 moves"):
        movegen.measure(movegen.CASES[0]._replace(moves=206))


def test_nodes_a_second(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(nps, monkeypatch, "--nodes", "2000", "--hash", "1")
    assert min(rates(capsys.readouterr().out)) > 0


@pytest.mark.parametrize(("module", "option"), [(nps, ["--network"]), (nnue, [])], ids=["nps", "nnue"])
def test_a_missing_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, option: list[str]
) -> None:
    with pytest.raises(SystemExit, match=r"none\.bin"):
        run(module, monkeypatch, *option, str(tmp_path / "none.bin"))


def test_evaluations_by_a_random_network(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(nnue, "NAMES", ["SFNN_kp_64_7_16_k3k3"])
    run(nnue, monkeypatch, "--seconds", "0.2")
    found = re.findall(r"^SFNN_kp_64_7_16_k3k3, (.*): -?\d+ ns an evaluation", capsys.readouterr().out, re.M)
    assert found == list(nps.CASES)


def test_mates_by_cshogi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong length in the file is printed; a problem without a mate is an error."""
    pytest.importorskip("cshogi")
    file = tmp_path / "problems.tsv"
    file.write_text(f"1\t{MATE_IN_ONE}\t-\n3\t{MATE_IN_ONE}\t-\n1\tno position\t-\n", encoding="utf-8")
    assert run(mate, monkeypatch, str(file)) == 0
    printed = capsys.readouterr().out
    assert f"3 plies in the file, 1 here: {MATE_IN_ONE}" in printed
    assert "1 problems with an illegal position" in printed
    for line in (f"1\t{QUIET}\t-\n", "one\ttwo\n"):
        file.write_text(line, encoding="utf-8")
        assert run(mate, monkeypatch, str(file)) == 1
    assert "not a length, an sfen and a solution: 'one\ttwo'" in capsys.readouterr().err


# ---- openings, the signature, punctuality, and the command line of every bench ----


@pytest.mark.parametrize("name", [name for name, _ in benches()])
def test_every_bench_starts(name: str) -> None:
    assert run_command([sys.executable, "-m", name, "--help"]).stdout.startswith("usage:")


def test_openings_are_legal_and_end_in_different_positions() -> None:
    lines = OPENINGS.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 400
    assert all(len(line.removeprefix("startpos moves ").split()) == 24 for line in lines)
    assert len({board.key for board in opening_boards(OPENINGS)}) == len(lines)


def test_new_openings_repeat_and_follow_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, *arguments: str) -> list[str]:
        small = ["--count", "3", "--plies", "6", "--nodes", "40", "--check-nodes", "60", "--weights", "material"]
        run(openings, monkeypatch, str(tmp_path / name), *small, *arguments)
        return (tmp_path / name).read_text(encoding="utf-8").splitlines()

    first = made("one")
    assert len(set(first)) == 3 and made("two") == first != made("three", "--seed", "2")
    with pytest.raises(WeightsError, match="nofile"):
        made("one", "--weights", str(tmp_path / "nofile.bin"))
    assert (tmp_path / "one").read_text(encoding="utf-8").splitlines() == first
    assert Board.from_moves(first[0].removeprefix("startpos moves ").split()).ply == 7


@pytest.mark.parametrize("now, expected", [(45, 0), (46, 1)])
def test_the_signature_is_compared_with_the_latest_line_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], now: int, expected: int
) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(signature, "ROOT", tmp_path)
    assert signature.committed() is None
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for message in ("One\n\nBench: 123", "Two\n\nBench: 45", "No functional change", "On the Bench: 7 of it"):
        commit = ["git", *author, "commit", "--quiet", "--allow-empty", "-m", message]
        subprocess.run(commit, cwd=tmp_path, check=True)
    monkeypatch.setattr(signature, "recounted", lambda: now)
    assert run(signature, monkeypatch, "--check") == expected
    assert f"signature {now}, in the history: 45" in capsys.readouterr().out


def test_answers_are_measured_against_their_clock() -> None:
    """The time left decreases by the time used and increases by the increment. An answer at the flag is not late."""
    clock = TimeControl(1000, 0, 200)
    engine = EngineProcess(own_engine(), punctuality.OPTIONS | {"EvalFile": "material"})
    engine.prepare()
    taken = list(itertools.islice(punctuality.answers(engine, clock), 3))
    engine.quit()
    assert [answer.allowed for answer in taken[:2]] == [1000, 1000]
    assert taken[2].allowed == 1000 - int(taken[0].used) + 200
    assert punctuality.row(clock, taken)[:2] == ["1 s + 0.2 s a move", "3"]
    answers = [punctuality.Answer(100.0, 100), punctuality.Answer(101.0, 100)]
    assert punctuality.row(TimeControl(0, 100), answers)[-2:] == ["-1", "1"]


# ---- the round robin of the levels ----


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
