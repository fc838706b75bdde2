"""Speed benches count correctly and report wrong counts. The rates are not tested."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from bench.speed import mate, movegen, nnue, nps, perft
from tests.bench.helpers import run
from tests.shogi.slow_shogi import START

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
