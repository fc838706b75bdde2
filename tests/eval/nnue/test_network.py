"""The value of networks: against the plain reference, incremental against full sums, bounds; kernels against numpy."""

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from core_ext import _nnue_kernels, _nnue_portable
from core_ext._nnue_probe import NnueProbe
from core_ext._probe import walk_evaluator
from core_ext.board import Board
from core_ext.engine import check_architecture
from core_ext.eval.nnue.network import Network
from tests.eval.nnue.networks import random_network, scattered, to_play
from tests.eval.nnue.reference import Ints, Reference, progress_index, read_reference
from tests.eval.test_evaluation import check_counts
from tests.positions import MATSURI, STARTS, flipped, random_boards
from tests.shogi.slow_shogi import Position
from usi_engine.evaluation import network_file
from usi_engine.evaluation.architecture import Architecture, parse_name
from usi_engine.evaluation.parts import FEATURE_SETS, HANDS, KINGS, PROGRESS, FeatureSet, Hands

POSITIONS = STARTS[1:]
# Each feature set, selector and form; widths from 64 up; layer 0 whole and in parts; both hidden layers odd and even.
NAMES = [
    "NNUE_kp_256x2_32_32", "NNUE_ka2_1024x2_8_96", "NNUE_halfkp_64x2_32_32", "NNUE_halfkpvm_64x2_16_64",
    "NNUE_halfka1_64x2_9_33", "NNUE_halfkahm1_64x2_32_32", "NNUE_halfka2_96x2_32_17", "NNUE_halfkahm2_64x2_8_8",
    "SFNN_ka2_1024_7_64_k3k3", "SFNN_halfkahm2_64_15_32_k3k3", "SFNN_halfkpvm_64_7_64", "SFNN_kp_64_8_32_k9k9",
    "SFNN_ka2_128_15_64_k9k9z", "SFNN_kp_192_16_32_k13k13z", "SFNN_ka2_64_7_8_k21k21", "SFNN_kp_64_7_8_k29k29",
    "SFNN_ka2_512_32_64_hand4", "SFNN_ka2_64_7_16_hand16_k13k13z", "SFNN_kp_64_7_16_hand64_k3k3",
    "SFNN_ka2_64_7_64_hand64z_progress4", "SFNN_kp_64_8_16_hand256_progress16", "SFNN_ka2_64_7_8_hand1024",
    "SFNN_ka2_3072_7_64_c1024_s256x8_k3k3", "SFNN_ka2_512_16_32_c256_s64x4_progress8", "SFNN_kp_64_15_64_progress2",
    "SFNN_ka2_64_8_32_k9k9_progress32", "SFNN_kp_64_31_96_hand16_progress3", "SFNN_ka2_512_23_32_c0_s64x8",
]  # fmt: skip
WILD = ["NNUE_kp_128x2_48_64", "SFNN_ka2_128_15_95_k3k3"]  # words of the whole range
CASES = [*NAMES, *WILD]
SMALL = "SFNN_kp_64_8_32_k9k9"
# A million positions in these, 50,000 in the others.
LONG_WALKS = ["NNUE_kp_256x2_32_32", "NNUE_halfka1_64x2_9_33", "SFNN_halfkahm2_64_15_32_k3k3", SMALL, NAMES[-3]]


def both(file: network_file.NetworkFile) -> tuple[network_file.NetworkFile, Reference]:
    """Return a network as the reader and as the reference read it from one file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "nn.bin"
        network_file.write_network(path, file)
        return network_file.read_network(path), read_reference(path)


@cache
def network(name: str) -> tuple[network_file.NetworkFile, Reference]:
    return both(random_network(parse_name(name), seed=len(name), wild=name in WILD))


@cache
def various() -> list[str]:
    walk = [board.sfen() for board in random_boards(3, 240)][::24]
    return [*POSITIONS, *walk, *scattered(5, 20)]


def agree(loaded: Network, reference: Reference, positions: list[str] | tuple[str, ...] = POSITIONS) -> list[int]:
    """Compare the values of the core with those of the reference, which are returned."""
    values = [reference.value(sfen) for sfen in positions]
    probe = NnueProbe(loaded)
    assert [probe.evaluate(sfen) for sfen in positions] == values
    for form in (_nnue_kernels, _nnue_portable):
        assert [form.evaluate(loaded, Board(sfen)) for sfen in positions] == values, form.__name__
    return values


def test_the_cases_have_every_part() -> None:
    cases = [parse_name(name) for name in NAMES]
    for part, known in (("features", FEATURE_SETS), ("hands", HANDS), ("kings", KINGS), ("progress", PROGRESS)):
        assert {getattr(case, part) for case in cases} - {""} == set(known)


@pytest.mark.parametrize("name", CASES)
def test_sums_and_values_equal_the_reference(name: str) -> None:
    file, reference = network(name)
    values = agree(to_play(file), reference, various())
    assert len(set(values)) > len(values) // 3  # not a constant
    probe = NnueProbe(to_play(file))
    assert all(np.array_equal(probe.sums(sfen), [reference.sums(sfen, color) for color in "bw"]) for sfen in various())
    inputs = [reference.activated(reference.sums(sfen, "w")) for sfen in various()]
    assert (np.min(inputs), np.max(inputs)) == (0, 126 if file.architecture.sfnn else 127)  # both ends occur


@pytest.mark.parametrize("count", [6000, pytest.param(50_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_incremental_sums_equal_full_sums(name: str, count: int) -> None:
    each = (1_000_000 if count > 6000 and name in LONG_WALKS else count) // len(POSITIONS)
    for seed, sfen in enumerate(POSITIONS, count):
        check_counts(walk_evaluator(to_play(network(name)[0]), sfen, seed, each), each)


# ---- layer stacks ----

STACKS = [*HANDS, *KINGS, *PROGRESS, "hand4_k9k9", "hand64z_k29k29", "k13k13z_progress32", "hand256_k3k3_progress16"]


def indexing_network(architecture: Architecture, progress: tuple[int, Ints]) -> Network:
    """Return a network whose output is 16 times the index of the layer stack."""
    count, size = architecture.stacks, network_file.stack_size(architecture)
    dense = np.zeros((count, size), np.uint8)
    last = size - 4 - 32  # the bias of the output and its weights end a stack
    dense[:, last : last + 4] = (16 * np.arange(count, dtype="<u4")).view(np.uint8).reshape(count, 4)
    bias, weight = np.zeros(64, np.int16), np.zeros((architecture.feature_count, 64), np.int16)
    given = progress if architecture.progress else None
    return Network(architecture, bias, weight, dense.tobytes(), given, 16 * -(-count // 20000))


@pytest.mark.parametrize("stack", STACKS)
def test_the_layer_stack_is_that_of_the_reference(stack: str) -> None:
    architecture = parse_name(f"SFNN_kp_64_8_8_{stack}")
    progress = -777, np.random.default_rng(len(stack)).integers(-8000, 8000, network_file.PROGRESS_SHAPE, np.int32)
    probe = NnueProbe(indexing_network(architecture, progress))
    reference = replace(network(SMALL)[1], selectors=stack.upper().split("_"), progress=progress)
    found = set()
    for sfen in [*POSITIONS, *scattered(6, 60)]:
        index = reference.stack(Position(sfen))
        assert probe.stack(sfen) == index, sfen
        assert probe.evaluate(sfen) == index // -(-architecture.stacks // 20000), sfen
        found.add(index)
    assert len(found) >= min(architecture.stacks // 2, 20)


def test_steps_of_the_progress_begin_where_the_reference_says() -> None:
    zeros, sfen = np.zeros(network_file.PROGRESS_SHAPE, np.int32), POSITIONS[0]
    architecture = parse_name("SFNN_kp_64_8_8_progress3")
    steps = set()
    for bias in (-45056, -45055, -44732, -44731, -1, 0, 45054, 45055, 45056, 2**31 - 1, -(2**31)):
        steps.add(step := NnueProbe(indexing_network(architecture, (bias, zeros))).stack(sfen))
        assert step == progress_index(bias, zeros, 3, Position(sfen)), bias
    assert steps == {0, 1, 2}


# ---- bounds ----


@pytest.mark.parametrize(
    "name", ["NNUE_kp_256x2_32_32", "NNUE_halfkpvm_64x2_16_64", "SFNN_ka2_64_7_64_hand64z_progress4"]
)
def test_a_flipped_position_has_the_same_value(name: str) -> None:
    probe = NnueProbe(to_play(network(name)[0]))
    for board in random_boards(11, 100):
        assert probe.evaluate(board.sfen()) == probe.evaluate(flipped(board.sfen()))


def test_the_scale_divides_the_output() -> None:
    file, reference = network(SMALL)
    for fv_scale in (1, 16, 24, 128):
        agree(to_play(file, fv_scale), replace(reference, fv_scale=fv_scale))


@pytest.mark.parametrize("output, value", [(31, 1), (-31, -1), (-15, 0), (2**30, 20000), (-(2**30), -20000)])
def test_values_round_towards_zero_and_stay_short_of_mate(output: int, value: int) -> None:
    file, reference = network("NNUE_kp_256x2_32_32")
    layers = [*reference.stacks[0][:2], (np.array([output], np.int32), np.zeros((1, 32), np.int8))]
    probe = NnueProbe(to_play(replace(file, dense=network_file.pack_dense(file.architecture, [layers]))))
    assert probe.evaluate(MATSURI) == value


def test_a_state_can_use_another_network() -> None:
    probe = NnueProbe(to_play(network(CASES[0])[0]))
    for name in [*CASES, *reversed(CASES)]:
        file, reference = network(name)
        probe.use(to_play(file))
        assert [probe.evaluate(sfen) for sfen in POSITIONS[:2]] == [reference.value(sfen) for sfen in POSITIONS[:2]]


SMALL_NNUE, SMALL_SFNN = parse_name("NNUE_kp_160x2_33_17"), parse_name("SFNN_ka2_512_7_64")


@pytest.mark.parametrize(
    "architecture, fault",
    [
        (replace(SMALL_NNUE, width=32), "width 32"),
        (replace(SMALL_NNUE, width=8224), "width 8224"),
        (replace(SMALL_NNUE, width=72), "width 72"),
        (replace(SMALL_NNUE, hidden1=0), "0 units"),
        (replace(SMALL_NNUE, hidden2=129), "129 units"),
        (replace(SMALL_NNUE, kings="k3k3"), "9 layer stacks"),
        (replace(SMALL_NNUE, shards=2), "2 shards"),
        (replace(SMALL_SFNN, width=96), "width 96"),
        (replace(SMALL_SFNN, hidden1=9), "9 units"),
        (replace(SMALL_SFNN, hands="hand1024", kings="k9k9"), "82944"),
        (replace(SMALL_SFNN, shards=3), "3 shards"),
        (replace(SMALL_SFNN, common=32, shards=5), "5 shards"),
        (replace(SMALL_SFNN, common=512, shards=8), "8 shards"),
        (replace(SMALL_SFNN, common=64), "1 shards"),
    ],
)
def test_an_architecture_that_play_does_not_take_is_refused(architecture: Architecture, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        check_architecture(architecture)
    with pytest.raises(ValueError, match=fault):
        Network(architecture, np.zeros(1, np.int16), np.zeros((1, 1), np.int16), b"", None, 16)


@pytest.mark.parametrize(
    "part, fault",
    [
        ({"feature_set": FeatureSet("", "", 0, buckets=2)}, "2 buckets"),
        ({"feature_set": FeatureSet("", "", 0, kings=((0, 4),))}, "planes"),
        ({"feature_set": FeatureSet("", "", 0, kings=((0, 0),) * 3)}, "planes"),
        ({"hand_classes": Hands((0, 0, 0, 0, 0, 0, 32))}, "classes of hands"),
        ({"hand_classes": Hands((1, 1, 1, 1, 1, 1, 1), points=1, point_classes=257)}, "257 of 1 points"),
        ({"king_zones": (0,) * 80}, "zones of a king"),
        ({"king_zones": (81,) * 81}, "zones of a king"),
        ({"progress_starts": tuple(range(32))}, "33 steps"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(part: dict[str, object], fault: str) -> None:
    names = [name for name in dir(SMALL_SFNN) if not name.startswith("_")]
    with pytest.raises(ValueError, match=fault):
        check_architecture(SimpleNamespace(**{name: getattr(SMALL_SFNN, name) for name in names} | part))


def test_arrays_that_do_not_fit_are_refused() -> None:
    file = random_network(SMALL_NNUE)
    bias, weight, dense = file.bias, file.weight, file.dense
    progress = 0, np.zeros(network_file.PROGRESS_SHAPE, np.int32)
    wrong = [
        (bias[:159], weight, dense, None, 16),
        (bias[:128], weight[:, :128].copy(), dense, None, 16),
        (bias, weight[:-1], dense, None, 16),
        (bias, weight, dense[:-1], None, 16),
        (bias, weight, dense + b"\0", None, 16),
        (bias, weight, b"", None, 16),
        (bias, weight, dense[:4] + b"\1\0\0\x40" + dense[8:], None, 16),  # a bias over 2^30
        (bias, weight, dense, progress, 16),
        (bias, weight, dense, None, 0),
        (bias, weight, dense, None, -1),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            Network(file.architecture, *arguments)
    by_progress = parse_name("SFNN_kp_64_8_8_progress2")
    dense = bytes(2 * network_file.stack_size(by_progress))
    arrays = np.zeros(64, np.int16), np.zeros((1710, 64), np.int16), dense
    for given in (None, (0, progress[1][:80])):
        with pytest.raises(ValueError):
            Network(by_progress, *arrays, given, 16)


WIDTHS = [64, 96, *range(128, 513, 32), 544, 1024]
FORMS = [_nnue_kernels, _nnue_portable]


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_subtracted_and_added(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.integers(-32768, 32768, (50, width), np.int16)
    for removals, additions in ((1, 1), (2, 2), (1, 2), (38, 42)):
        removed, added = (rng.integers(0, 50, count, np.int32) for count in (removals, additions))
        before = rng.integers(-32768, 32768, width, np.int16)
        expected = before + rows[added].sum(axis=0, dtype=np.int64) - rows[removed].sum(axis=0, dtype=np.int64)
        for form in FORMS:
            sums = before.copy()
            form.accumulate_rows(sums, rows, removed, added)
            assert np.array_equal(sums, expected.astype(np.int16)), form.__name__


def some_sums(rng: np.random.Generator, width: int) -> npt.NDArray[np.int16]:
    edges = np.array([-32768, -129, -128, -1, 0, 1, 126, 127, 128, 253, 254, 255, 256, 32767], np.int16)
    return np.where(rng.random(width) < 0.5, rng.choice(edges, width), rng.integers(-300, 400, width)).astype(np.int16)


@pytest.mark.parametrize("width", WIDTHS)
def test_sums_are_clipped_or_multiplied(width: int) -> None:
    rng = np.random.default_rng(width)
    sums = [some_sums(rng, width) for _ in range(2)]
    wanted = {False: np.concatenate(sums).clip(0, 127)}
    if width % 64 == 0:
        left, right = np.concatenate([np.split(one.astype(np.int64).clip(0, 254), 2) for one in sums], axis=1)
        wanted[True] = left * right // 512
    for form, (multiplied, expected) in itertools.product(FORMS, wanted.items()):
        out = np.empty(len(expected), np.uint8)
        form.activate(multiplied, out, *sums)
        assert np.array_equal(out, expected), form.__name__


@pytest.mark.parametrize("count", [8, *range(16, 129, 16)])
def test_hidden_sums_are_divided_clipped_and_squared(count: int) -> None:
    rng = np.random.default_rng(count)
    edges = [-(2**31), -65 * 32768, -8160, -8159, -65, -64, -1, 0, 63, 64, 127 * 64 + 63, 128 * 64, 2**31 - 1]
    for sums in (rng.choice(np.array(edges, np.int32), count), rng.integers(-20000, 20000, count, np.int32)):
        clipped = (sums // 64).clip(0, 127)
        squares = np.minimum(sums.astype(np.int64) ** 2 >> 19, 127)
        for form in FORMS:
            out = np.empty(2 * count, np.uint8)
            form.hidden(False, out[:count], sums)
            assert np.array_equal(out[:count], clipped), form.__name__
            form.hidden(True, out, sums)
            assert np.array_equal(out, np.concatenate([squares, clipped])), form.__name__


@pytest.mark.parametrize("outputs", [8, 16, 32, 48, 64, 96, 128])
@pytest.mark.parametrize("inputs", [8, 16, 48, 96, 256, 320, 512, 2048, 4096])
def test_dense_layers(inputs: int, outputs: int) -> None:
    rng = np.random.default_rng(inputs * outputs)
    edges = np.array([-128, -127, 127], np.int8)
    full = rng.integers(-128, 128, (outputs, inputs), np.int8)
    for weight in (full, rng.choice(edges, (outputs, inputs))):
        some = rng.integers(0, 128, inputs, np.uint8)
        sparse = some * (rng.random(inputs) < 0.1)
        for given in (some, sparse, 0 * some, np.full(inputs, 127, np.uint8), np.eye(1, inputs)[0]):
            units = given.astype(np.uint8)
            bias = rng.integers(-(2**31), 2**31, outputs, np.int64).astype(np.int32)
            expected = (bias.astype(np.int64) + weight.astype(np.int64) @ units).astype(np.int32)
            for group in {4, _nnue_kernels.group_of(inputs, outputs)}:
                laid_out = np.ascontiguousarray(weight.reshape(outputs, -1, group).transpose(1, 0, 2)).reshape(-1)
                forms = [(_nnue_portable, False)]
                if outputs > 8 or group == 64:
                    forms.append((_nnue_kernels, False))
                if outputs > 8 and inputs % 64 == 0:
                    forms.append((_nnue_kernels, True))
                for form, skipping in forms:
                    out = np.empty(outputs, np.int32)
                    form.affine(out, units, group, laid_out, bias, skipping)
                    assert np.array_equal(out, expected), (form.__name__, group, skipping)


@pytest.mark.parametrize("count", [16, 32, 48, 64, 80, 96, 112, 128, 256, 1024])
def test_a_row_of_weights_times_inputs(count: int) -> None:
    rng = np.random.default_rng(count)
    for weights in (rng.integers(-128, 128, count, np.int8), np.full(count, -128, np.int8)):
        for inputs in (rng.integers(0, 128, count, np.uint8), np.full(count, 127, np.uint8)):
            expected = int(weights.astype(np.int64) @ inputs)
            assert [form.dot(inputs, weights) for form in FORMS] == [expected, expected]
