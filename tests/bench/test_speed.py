"""Speed benches count correctly and report wrong counts, their rates are not tested; other tools of bench."""

import itertools
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench import signature
from bench.__main__ import benches
from bench.speed import mate, movegen, nnue, nps, perft, punctuality
from bench.strength import openings
from core_ext.board import Board
from tests.programs import run_command
from tests.shogi.slow_shogi import START
from usi_engine.clock import TimeControl
from usi_engine.evaluation.names import WeightsError
from usi_engine.match.runs import OPENINGS
from usi_engine.records.games import opening_boards
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
