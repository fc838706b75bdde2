"""The option EvalFile: networks, KPP weights, material; a network in the search and in the options; piece values."""

import io
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext._nnue_probe import NnueProbe
from core_ext._probe import bonapiece_tables, bonapieces, walk_evaluator
from core_ext.board import Board
from core_ext.engine import HALF_SQUARES, INFINITE, PAIRS, KppWeights, Network, PieceValues, Worker
from tests import positions
from tests.conftest import NewWorker, deepen
from tests.eval.nnue.networks import random_network, to_play
from tests.eval.nnue.reference import mirrored as mirrored_square
from tests.eval.nnue.reference import numbers_of
from tests.positions import MATSURI, MIDGAME, VALUES, flipped, material, mirrored, random_boards
from tests.programs import run_engine
from tests.shogi.slow_shogi import START, Position
from usi_engine.core import load_core
from usi_engine.evaluation.architecture import Architecture, parse_name
from usi_engine.evaluation.kpp_file import read_folded
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
    _, sfen, _ = next(row for row in positions.data_rows("mate_problems.tsv") if row[1].count("K") == 0)
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


# ---- the static value ----

# From the opening to both kings entered, and a handicap with pieces missing.
STARTS = [START, MATSURI, positions.ENTERED, positions.TWO_PIECE_HANDICAP]


def check_counts(found: Mapping[str, int], count: int) -> None:
    """Check that a walk of `count` positions met every kind of move and no wrong sum."""
    assert (found["evaluated"], found["wrong"]) == (count, 0)
    assert min(found[kind] for kind in ("kings", "captures", "promotions", "drops", "nulls", "undone")) > 0


@pytest.mark.parametrize("count", [20_000, pytest.param(250_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sfen", STARTS)
def test_incremental_sums_equal_full_sums(weights: KppWeights, sfen: str, count: int) -> None:
    check_counts(walk_evaluator(weights, sfen, count, count), count)


def pair(one: int, other: int) -> int:
    """The index of a pair of pieces in a triangle."""
    return max(one, other) * (max(one, other) + 1) // 2 + min(one, other)


class Formula:
    """The value by the formula, from the folded arrays of the file."""

    def __init__(self) -> None:
        folded = read_folded(KPP)
        self.inverse, self.mirror = bonapiece_tables()
        self.kp, self.pp = folded.kp.astype(int), folded.pp.astype(int)
        self.kkp, self.kkp_step = folded.kkp, folded.kkp_step
        self.kpp, self.kpp_step = folded.kpp.reshape(HALF_SQUARES, PAIRS), folded.kpp_step
        self.right_to_move = folded.tempo
        self.kp_tempo, self.pp_tempo = folded.kp_tempo.astype(int), folded.tempo_step * folded.pp_tempo.astype(int)

    def perspective(self, king: int, other: int, seen: list[int]) -> int:
        """The sum from one king's perspective, in 1/32 centipawn."""
        if king // 9 > 4:
            king, other, seen = mirrored_square(king), mirrored_square(other), [self.mirror[number] for number in seen]
        symmetric = [(seen, other)]
        if king // 9 == 4:
            symmetric.append(([self.mirror[number] for number in seen], mirrored_square(other)))
        total = 0
        for i in range(len(seen)):
            total += self.kp[king * 1548 + min(numbers[i] for numbers, _ in symmetric)]
            place = min(far * 1548 + numbers[i] for numbers, far in symmetric)
            total += self.kkp_step * int(self.kkp[king * 81 * 1548 + place])
            for j in range(i):
                place = min(pair(numbers[i], numbers[j]) for numbers, _ in symmetric)
                total += self.pp[place] + self.kpp_step * int(self.kpp[king, place])
        return total

    def kings_and_pieces(self, sfen: str) -> tuple[int, int, list[int], list[int]]:
        board = Board(sfen)
        names = [board.king_square(color) or "" for color in (0, 1)]
        black, white = (9 * (int(name[0]) - 1) + "abcdefghi".index(name[1]) for name in names)
        return black, white, *bonapieces(sfen)

    def terms(self, sfen: str) -> int:
        """KP + KKP + PP + KPP for Black, without the pieces' own values."""
        black, white, mine, theirs = self.kings_and_pieces(sfen)
        return self.perspective(black, white, mine) - self.perspective(80 - white, 80 - black, theirs)

    def tempo(self, sfen: str) -> int:
        """Tempo + KP + PP for the side to move."""
        black, white, mine, theirs = self.kings_and_pieces(sfen)
        total = self.right_to_move
        for king, seen in ((black, mine), (80 - white, theirs)):
            symmetric = [(king, seen), (mirrored_square(king), [self.mirror[number] for number in seen])]
            nearest = min(square for square, _ in symmetric)
            for i in range(len(seen)):
                total += self.kp_tempo[min(square * 1548 + n[i] for square, n in symmetric if square == nearest)]
        symmetries = [seen for one in (mine, theirs) for seen in (one, [self.mirror[number] for number in one])]
        for i in range(len(mine)):
            for j in range(i):
                total += self.pp_tempo[min(pair(n[i], n[j]) for n in symmetries)]
        return total


def test_full_sums_equal_the_formula(weights: KppWeights, new_worker: NewWorker) -> None:
    formula, engine = Formula(), new_worker(weights)
    for sfen in [*STARTS, *[board.sfen() for board in random_boards(5, 120)][::6]]:
        terms = dict(engine.evaluate(Board(sfen)))
        value_in_play = sum(terms[name] for name in ("KKP", "KPP of Black's king", "KPP of White's king"))
        sign = 1 if Board(sfen).turn == 0 else -1
        # Three terms, each truncated to whole centipawns.
        assert abs(value_in_play - sign * formula.terms(sfen) / 32) <= 3, sfen
        assert abs(terms["tempo"] - formula.tempo(sfen) / 32) <= 1, sfen


def test_flipped_and_mirrored_positions_have_the_same_value(weights: KppWeights, new_worker: NewWorker) -> None:
    engine = new_worker(weights)
    for board in random_boards(11, 300):
        sfen = board.sfen()
        assert total(engine, sfen) == total(engine, flipped(sfen)) == total(engine, mirrored(sfen))


def test_weights_of_a_wrong_size_are_refused() -> None:
    weights, few = KppWeights(), np.zeros(3, np.int16)
    for unfold, arguments in (
        (weights.unfold_king, (0, few, few, 1)),
        (weights.unfold_tempo, (few, few, 4)),
        (weights.unfold_pieces, (np.zeros(3, np.int32), few, few, 1)),
    ):
        with pytest.raises(ValueError, match="wrong size"):
            unfold(*arguments)
    with pytest.raises(ValueError, match="steps of 8, not 4"):
        weights.unfold_tempo(few, few, 8)


def test_incomplete_weights_are_not_used(new_worker: NewWorker) -> None:
    weights = KppWeights()
    assert total(new_worker(weights), START.replace("1r5b1", "7b1")) == VALUES["R"]
    for use in (weights.memory, lambda: weights.complete(0)):
        with pytest.raises(ValueError, match="no weights were allocated"):
            use()


def test_numbers_are_those_of_bonanza() -> None:
    one_kind, one_king = Board("4k4/9/9/9/9/9/9/9/4K4 b 18p 1"), Board("4k4/9/9/9/9/9/9/9/9 b R 1")
    for board in [one_kind, one_king, *random_boards(1, 300)]:
        numbers = [number for number in numbers_of(Position(board.sfen()), "b") if number < 1548]  # without the kings
        assert sorted(bonapieces(board.sfen())[0]) == sorted(numbers)


def test_inverse_and_mirror_undo_themselves_and_commute() -> None:
    inverse, mirror = bonapiece_tables()
    for number in range(1548):
        assert inverse[inverse[number]] == number
        assert mirror[mirror[number]] == number
        assert inverse[mirror[number]] == mirror[inverse[number]]
