"""The option EvalFile: networks, KPP weights, material; a network in the search and in the options; piece values."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from core_ext._nnue_probe import NnueProbe
from core_ext.board import Board
from core_ext.engine import INFINITE, KppWeights, Network, PieceValues, Worker
from tests.conftest import NewWorker, deepen
from tests.engine.usi_transport import Program
from tests.eval.nnue.networks import random_network
from tests.eval.nnue.test_network import to_play
from tests.positions import MATSURI, MIDGAME, VALUES, data_rows, material, random_boards
from tests.programs import run_engine
from usi_engine.core import load_core
from usi_engine.evaluation.architecture import Architecture, parse_name
from usi_engine.evaluation.load import TITLES, evaluation_title, load_evaluation, network_title
from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL, PACKAGED, WeightsError
from usi_engine.evaluation.network_file import NetworkFile, write_network
from usi_engine.search.resources import Resources
from usi_engine.usi.options import DECLARED, Options
from usi_engine.usi.output import Writer


@pytest.fixture(scope="module")
def file() -> NetworkFile:
    return random_network(Architecture("K+P", 256, 32, 32), seed=5)


@pytest.fixture
def folder(tmp_path: Path, file: NetworkFile) -> Path:
    """A folder with an nn.bin."""
    write_network(tmp_path / "nn.bin", file)
    return tmp_path


def total(worker: Worker, sfen: str) -> int:
    return dict(worker.evaluate(Board(sfen)))["total"]


def test_names_of_evaluations(folder: Path, file: NetworkFile) -> None:
    """A file and its folder name a network; words name the packaged ones and material."""
    probe = NnueProbe(to_play(file))
    for path in (folder, folder / "nn.bin"):
        network = load_evaluation(str(path), 16)
        assert isinstance(network, Network)
        assert NnueProbe(network).evaluate(MATSURI) == probe.evaluate(MATSURI) != 0
    kinds = [type(load_evaluation(name, 16)) for name in (KPP, INTERNAL, MATERIAL)]
    assert kinds == [KppWeights, Network, type(None)]


@pytest.mark.parametrize(
    ("name", "fault"),
    [("absent.bin", "no such file"), ("absent", "absent"), ("text.bin", "too few"), ("", "no such file"),
     ("null\0character", "null"), ("~nosuchuser/nn.bin", "nosuchuser"), ("none.kpp", "none.kpp"),
     ("empty.kpp", "it has no KPP weights for this version; the name of a network"), ("pipe.bin", "not a regular file"),
     ("pipe.kpp", "not a regular file")],
)  # fmt: skip
def test_other_files_are_refused_in_one_line(tmp_path: Path, name: str, fault: str) -> None:
    """Opening a pipe would block until a writer opens it."""
    (tmp_path / "text.bin").write_text("no network")
    (tmp_path / "empty.kpp").touch()
    if "pipe" in name:
        getattr(os, "mkfifo", Path.mkdir)(tmp_path / name)
    with pytest.raises(WeightsError, match=fault) as refusal:
        load_evaluation(name if name.startswith("~") else str(tmp_path / name), 16)
    assert "\n" not in str(refusal.value)


def test_the_search_evaluates_by_the_network(new_worker: NewWorker, file: NetworkFile) -> None:
    network = to_play(file)
    worker = new_worker(network)
    for sfen in (MATSURI, MIDGAME):
        assert total(worker, sfen) == NnueProbe(network).evaluate(sfen)
    other = new_worker(network)
    assert (deepen(worker, MIDGAME, 6), worker.nodes) == (deepen(other, MIDGAME, 6), other.nodes)


def test_a_problem_with_one_king_is_worth_its_material(new_worker: NewWorker, file: NetworkFile) -> None:
    _, sfen, _ = next(row for row in data_rows("mate_problems.tsv") if row[1].count("K") == 0)
    assert total(new_worker(to_play(file)), sfen) == total(new_worker(), sfen)


def test_other_objects_are_no_weights(new_worker: NewWorker) -> None:
    with pytest.raises(TypeError, match="not str"):
        new_worker("nn.bin")


def resources(*options: tuple[str, str]) -> tuple[Resources, Options]:
    chosen = Options()
    for name, value in (("USI_Hash", "1"), *options):
        assert chosen.set(name, value) is None
    return Resources(chosen, lambda text: None, load_core), chosen


def test_eval_dir_is_used_if_no_eval_file_is_set(folder: Path) -> None:
    for place in (folder, folder / "nn.bin"):
        assert resources(("EvalDir", str(place)))[0].evaluation_title == evaluation_title(str(folder))
    assert isinstance(resources(("EvalDir", str(folder)))[0].weights, Network)
    both, _ = resources(("EvalDir", str(folder)), ("EvalFile", MATERIAL))
    assert both.weights is None
    emptied, _ = resources(("EvalFile", ""), ("EvalDir", str(folder)), ("FV_SCALE", "24"))
    assert isinstance(emptied.weights, Network)
    assert emptied.weights.fv_scale == 24  # the packaged network keeps its own


@pytest.mark.parametrize("name", [MATERIAL, KPP, "txt.txt", "my.kpp"])
def test_eval_dir_is_a_folder_whatever_its_name(
    name: str, file: NetworkFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    write_network(tmp_path / name / "nn.bin", file)
    monkeypatch.chdir(tmp_path)
    loaded, _ = resources(("EvalDir", name))
    assert loaded.evaluation_title == evaluation_title(f"./{name}") == "NNUE K+P 256"
    for network in (loaded.weights, load_evaluation(str(tmp_path / name))):
        assert isinstance(network, Network) and network.fv_scale == 16


def test_a_new_scale_loads_the_network_again(folder: Path) -> None:
    loaded, options = resources(("EvalFile", str(folder)))
    first = loaded.weights
    options.set("FV_SCALE", "24")
    second = loaded.weights
    assert isinstance(first, Network) and isinstance(second, Network)
    assert (first.fv_scale, second.fv_scale) == (16, 24)
    assert loaded.weights is second
    for name in (INTERNAL, KPP, MATERIAL):  # they keep their own
        options.set("EvalFile", name)
        pool = loaded.pool
        options.set("FV_SCALE", "25")
        assert loaded.pool is pool


def test_a_replaced_network_is_read_at_isready(folder: Path) -> None:
    loaded, _ = resources(("EvalFile", str(folder)))
    first = loaded.weights
    write_network(folder / "nn.bin", random_network(Architecture("K+P", 256, 32, 32), seed=6))
    os.utime(folder / "nn.bin", (1, 1))
    assert loaded.weights is first
    loaded.recheck_files()
    second = loaded.weights
    loaded.recheck_files()
    assert loaded.weights is second is not first


def test_eval_options_beside_the_network(folder: Path, tmp_path: Path) -> None:
    (folder / "eval_options.txt").write_text("option name FV_SCALE type spin default 24\nUSI_Hash=2\nnonsense\n")
    found = [load_evaluation(str(path)) for path in (folder, folder / "nn.bin")]
    found.append(resources(("FV_SCALE", "16"), ("EvalDir", str(folder)))[0].weights)
    assert [one.fv_scale for one in found if isinstance(one, Network)] == [24, 24, 16]
    written = io.BytesIO()
    options = Options()
    loaded = Resources(options, Writer(written).info, load_core)
    options.set("EvalDir", str(folder))
    loaded.load()
    assert isinstance(loaded.weights, Network) and loaded.weights.fv_scale == 24
    assert loaded.pool.table.megabytes == 2
    lines = ["FV_SCALE = 24", "USI_Hash = 2", "'nonsense' is not NAME=VALUE"]
    assert written.getvalue().decode().splitlines() == [f"info string eval_options.txt: {line}" for line in lines]
    for scale, used in (("20", 20), ("0", 24)):
        options.set("FV_SCALE", scale)
        assert isinstance(loaded.weights, Network) and loaded.weights.fv_scale == used
    options.set("EvalDir", "")
    assert loaded.weights is not None and options.number("USI_Hash") == DECLARED["USI_Hash"].default


def test_a_refused_network_advises_nothing(folder: Path) -> None:
    (folder / "eval_options.txt").write_text("MultiPV=2\n")
    loaded, options = resources(("EvalDir", str(folder)))
    good = (folder / "nn.bin").read_bytes()
    for data, lines in ((good[:-1], 1), (good, 2), (None, 1)):
        (folder / "nn.bin").unlink() if data is None else (folder / "nn.bin").write_bytes(data)
        loaded.recheck_files()
        loaded.load()
        assert options.number("MultiPV") == lines


def test_eval_options_count_from_the_first_go_on(folder: Path) -> None:
    """Also without an isready before it."""
    (folder / "eval_options.txt").write_text("DepthLimit=1\n")
    commands = [f"setoption name EvalDir value {folder}", "go depth 9", ""]
    answered = run_engine(input="\n".join(commands)).stdout
    assert " depth 1 " in answered and " depth 2 " not in answered


def test_an_unreadable_eval_options_is_one_line(folder: Path) -> None:
    (folder / "eval_options.txt").write_bytes(b"\xff" * (1 << 20))
    written, options = io.BytesIO(), Options()
    options.set("EvalFile", str(folder / "nn.bin"))
    assert Resources(options, Writer(written).info, load_core).weights is not None
    (line,) = written.getvalue().decode().splitlines()
    assert "eval_options.txt" in line and "1048576 bytes" in line
    network = load_evaluation(str(folder))  # without a word
    assert isinstance(network, Network) and network.fv_scale == 16


def test_titles_for_id_name(folder: Path, tmp_path: Path) -> None:
    assert TITLES[INTERNAL] == network_title(PACKAGED[INTERNAL])
    assert [evaluation_title(name) for name in (INTERNAL, KPP, MATERIAL)] == ["SFNN K+A2 1024", "KPP", "material"]
    write_network(tmp_path / "half.nnue", random_network(parse_name("SFNN_halfkpvm_64_7_16_k3k3")))
    networks = [str(folder), str(folder / "nn.bin"), str(tmp_path / "half.nnue")]
    assert [evaluation_title(name) for name in networks] == ["NNUE K+P 256", "NNUE K+P 256", "SFNN HalfKP_vm 64"]
    assert [evaluation_title(name) for name in ("my.kpp", "weights")] == ["KPP", ""]
    (tmp_path / "short.bin").write_bytes(b"\x16\x2f")
    assert [evaluation_title(str(tmp_path / name)) for name in ("short.bin", "none.bin")] == ["", ""]


def test_kpp_without_numpy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    for name in ("usi_engine.evaluation.kpp_file", "usi_engine.evaluation.cache"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(WeightsError, match=r"^KPP weights need the Python module 'numpy'; pip install numpy$"):
        load_evaluation(KPP, 16)
    assert load_evaluation(INTERNAL, 16) is not None


# ---- piece values that the user sets ----

# Each piece has its own value, so that none can be taken for another.
ODD = {"P": 101, "L": 302, "N": 403, "S": 504, "G": 605, "B": 806, "R": 907, "+P": 508, "+L": 509, "+N": 510, "+S": 511,
       "+B": 1012, "+R": 1113}  # fmt: skip


@pytest.mark.parametrize("values", [None, ODD])
def test_the_static_value_is_the_sum_of_the_piece_values(new_worker: NewWorker, values: dict[str, int] | None) -> None:
    worker = new_worker(values and PieceValues(values))
    for board in random_boards(17, 300):
        assert dict(worker.evaluate(board))["total"] == material(board.sfen(), values or VALUES)


def test_a_piece_that_is_not_named_keeps_its_value() -> None:
    assert PieceValues().as_dict() == VALUES
    assert PieceValues({"+R": 1}).as_dict() == VALUES | {"+R": 1}
    assert eval(repr(PieceValues(ODD)), {"PieceValues": PieceValues}).as_dict() == ODD


@pytest.mark.parametrize("letters", ["K", "p", "", "+G", "PP", " P", 1, None, ("P",)])
def test_other_pieces_are_refused(letters: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(letters))):
        PieceValues({letters: 1})


@pytest.mark.parametrize("value", [-1, 10_001, 1 << 70, 1.5, "90", None, True])
def test_values_out_of_range_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=f"'P' is .* not {re.escape(repr(value))}"):
        PieceValues({"P": value})


def test_extreme_values_are_clamped_to_evaluations(new_worker: NewWorker) -> None:
    worker = new_worker(PieceValues(dict.fromkeys(ODD, 10_000)))
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1")
    assert dict(worker.evaluate(board))["total"] == 20_000
    worker.set_root(board)
    assert abs(worker.search(3, -INFINITE, INFINITE)) <= 32_000


# ---- files ----


@pytest.fixture
def values(tmp_path: Path) -> Path:
    return tmp_path / "values.txt"


def test_a_file_is_read(values: Path) -> None:
    values.write_text("\ufeff# my values\r\n\nP 100\n  +P\t600 # a tokin\n")
    found = load_evaluation(str(values), 16)
    assert isinstance(found, PieceValues)
    assert found.as_dict() == VALUES | {"P": 100, "+P": 600}


LINES = {line: line for line in ("P", "P 90 80", "P ninety", "P 9.5", "P 10001", "P -1", "K 100", "+G 100")}
LINES |= {"P ９０": "P ９０", "P " + "9" * 400: "P 99999"}
LINES |= {"P 90\nL 200\nP 91": "P 91", "\x1b[2J 1": "\\x1b[2J 1"}


@pytest.mark.parametrize(("text", "line"), LINES.items())
def test_bad_lines_are_quoted(values: Path, text: str, line: str) -> None:
    values.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError) as refusal:
        load_evaluation(str(values), 16)
    message = str(refusal.value)
    assert f"'{values}': line {text.count(chr(10)) + 1} '{line}" in message
    assert message.isprintable() and len(message) < 400


def test_unreadable_files_are_refused(values: Path) -> None:
    (values.parent / "folder.txt").mkdir()
    (values.parent / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (values.parent / "long.txt").write_bytes(b"#" * 70_000)
    for name in ("absent.txt", "folder.txt", "binary.txt", "long.txt"):
        with pytest.raises(WeightsError, match=name):
            load_evaluation(str(values.parent / name), 16)


def test_the_program_plays_with_a_file_or_names_its_fault(values: Path) -> None:
    values.write_text("R 2000")
    program = Program(evaluation=str(values))
    try:
        program.ask("position sfen 4k4/9/9/9/9/9/9/9/4K4 b R 1", "eval", answer="^total 2000$")
        values.write_text("R 20000")
        program.send(f"setoption name EvalFile value {values.with_name('none.txt')}", "isready")
        assert "none.txt" in program.expect("^info string cannot use the piece values")
        program.expect("^readyok$")
        program.send("quit")
    finally:
        program.close()
