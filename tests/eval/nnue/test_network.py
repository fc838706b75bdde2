"""The value of a network: against the plain reference, incremental against full sums, bounds, symmetry."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core_ext._nnue_probe import NnueProbe
from core_ext._probe import walk_evaluator
from core_ext.engine import check_architecture
from core_ext.eval.nnue.network import Network
from tests.eval.nnue.networks import random_network
from tests.eval.nnue.reference import Ints, Reference, progress_index, read_reference
from tests.eval.test_evaluate import check_counts
from tests.positions import MATSURI, STARTS, flipped, random_boards
from tests.shogi.slow_shogi import START, Position
from usi_engine.evaluation.architecture import HANDS, KINGS, PROGRESS, Architecture, parse_name
from usi_engine.evaluation.network_file import PROGRESS_SHAPE, NetworkFile, stack_size, write_network

POSITIONS = STARTS[1:]
WILD = "words of the whole range"
SMALL = "NNUE_kp_160x2_33_17"
# Every feature set in both forms' usual sizes and in odd ones.
NAMES = [
    "NNUE_kp_256x2_32_32",
    "NNUE_kp_1024x2_8_32",
    "NNUE_kp_160x2_33_17",
    "NNUE_kp_384x2_96_128",
    "NNUE_halfkp_128x2_32_32",
    "NNUE_halfkp_224x2_16_8",
    "NNUE_ka2_64x2_17_3",
    "NNUE_halfkpvm_64x2_32_32",
    "NNUE_halfka1_64x2_16_32",
    "NNUE_halfkahm2_96x2_8_8",
    "SFNN_ka2_1024_7_64_k3k3",
    "SFNN_kp_128_31_32",
    "SFNN_halfkp_64_16_32_hand4",
    "SFNN_halfkpvm_64_15_32_k9k9z",
    "SFNN_halfka1_64_7_64_hand16",
    "SFNN_halfkahm1_64_8_16_progress8",
    "SFNN_halfka2_64_7_64_k3k3",
    "SFNN_halfkahm2_64_15_32_k3k3",
    "SFNN_ka2_192_128_7_hand4_k3k3_progress2",
    "SFNN_kp_3072_7_64_c1024_s256x8_k3k3",
    "SFNN_ka2_512_23_32_c0_s64x8",
]
WILD_NAMES = ["NNUE_kp_128x2_48_64", "NNUE_halfkp_128x2_96_95", "SFNN_ka2_128_15_96_hand16"]
CASES = {name: parse_name(name) for name in NAMES} | {f"{name}, {WILD}": parse_name(name) for name in WILD_NAMES}


def to_play(file: NetworkFile, fv_scale: int = 16) -> Network:
    return Network(file.architecture, file.bias, file.weight, file.dense, file.progress, fv_scale)


@cache
def network_file(case: str) -> NetworkFile:
    return random_network(CASES[case], seed=len(case), wild=WILD in case)


@cache
def reference_of(case: str, fv_scale: int = 16) -> Reference:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nn.bin"
        write_network(path, network_file(case))
        return read_reference(path, fv_scale)


@pytest.mark.parametrize("case", CASES)
def test_values_equal_the_reference(case: str) -> None:
    reference, probe = reference_of(case), NnueProbe(to_play(network_file(case)))
    values = set()
    for sfen in [*POSITIONS, *[board.sfen() for board in random_boards(3, 240)][::6]]:
        value = reference.value(sfen)
        assert probe.evaluate(sfen) == value, sfen
        assert probe.evaluate_from_scratch(sfen) == value, sfen
        values.add(value)
    assert len(values) > 10, values  # not a constant


def agree(probe: NnueProbe, reference: Reference) -> None:
    assert [probe.evaluate(sfen) for sfen in POSITIONS] == [reference.value(sfen) for sfen in POSITIONS]


@pytest.mark.parametrize("case", CASES)
def test_accumulators_after_moves_are_those_of_the_reference(case: str) -> None:
    """After up to twelve moves without an evaluation: more than are updated incrementally."""
    reference, probe = reference_of(case), NnueProbe(to_play(network_file(case)))
    plies, taken = 0, 0
    for board in random_boards(8, 150):
        plies += 1
        if plies < taken % 12 or len(board.moves()) < plies:
            continue
        sums = probe.sums(START, board.moves())
        for color in range(2):
            assert np.array_equal(sums[color], reference.sums(board.sfen(), "bw"[color])), board.sfen()
        plies, taken = 0, taken + 1
    assert taken > 15


def check_walk(case: str, sfen: str, seed: int, count: int) -> None:
    check_counts(walk_evaluator(to_play(network_file(case)), sfen, seed, count), count)


@pytest.mark.parametrize("case", CASES)
def test_incremental_sums_equal_full_sums(case: str) -> None:
    for sfen in POSITIONS:
        check_walk(case, sfen, 1, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_incremental_sums_equal_full_sums_on_a_million_positions(case: str) -> None:
    for seed, sfen in enumerate(POSITIONS):
        check_walk(case, sfen, 100 + seed, 1_000_000 // len(POSITIONS) + 1)


# ---- layer stacks ----

STACKS = [*HANDS, *KINGS, *PROGRESS, "hand4_k9k9", "hand64z_k29k29", "k13k13z_progress32", "hand256_k3k3_progress16"]


def indexing_network(architecture: Architecture, progress: tuple[int, Ints] | None) -> Network:
    """Return a network whose output is the index of the layer stack, or a part of it if there are many."""
    count, size = architecture.stacks, stack_size(architecture)
    dense = np.zeros((count, size), np.uint8)
    last = size - 4 - 32  # the bias of the output and its weights end a stack
    dense[:, last : last + 4] = np.arange(count, dtype="<u4").view(np.uint8).reshape(count, 4)
    bias, weight = np.zeros(64, np.int16), np.zeros((architecture.feature_count, 64), np.int16)
    return Network(architecture, bias, weight, dense.tobytes(), progress, -(-count // 20000))


@pytest.mark.parametrize("stack", STACKS)
def test_the_layer_stack_is_that_of_the_reference(stack: str) -> None:
    architecture = parse_name(f"SFNN_kp_64_8_8_{stack}")
    weights = np.random.default_rng(len(stack)).integers(-8000, 8000, PROGRESS_SHAPE, np.int32)
    progress = (-777, weights) if architecture.progress else None
    probe = NnueProbe(indexing_network(architecture, progress))
    none = np.zeros(1)
    reference = Reference("K+P", True, stack.upper().split("_"), none, none, [], progress, 8)
    found = set()
    for sfen in [*POSITIONS, *[board.sfen() for board in random_boards(5, 400)][::7]]:
        index = reference.stack(Position(sfen))
        assert probe.stack(sfen) == index, sfen
        assert probe.evaluate(sfen) == index // -(-architecture.stacks // 20000), sfen
        found.add(index)
    assert len(found) > 1


def test_steps_of_the_progress_begin_where_the_reference_says() -> None:
    zeros, sfen = np.zeros(PROGRESS_SHAPE, np.int32), POSITIONS[0]
    steps = set()
    for bias in (-45056, -45055, -44732, -44731, -1, 0, 45054, 45055, 45056, 2**31 - 1, -(2**31)):
        step = NnueProbe(indexing_network(parse_name("SFNN_kp_64_8_8_progress3"), (bias, zeros))).stack(sfen)
        assert step == progress_index(bias, zeros, 3, Position(sfen)), bias
        steps.add(step)
    assert steps == {0, 1, 2}


# ---- bounds ----


def test_a_flipped_position_has_the_same_value() -> None:
    for case in ("NNUE_kp_256x2_32_32", "SFNN_ka2_1024_7_64_k3k3", "SFNN_halfkahm2_64_15_32_k3k3"):
        probe = NnueProbe(to_play(network_file(case)))
        for board in random_boards(11, 100):
            assert probe.evaluate(board.sfen()) == probe.evaluate(flipped(board.sfen()))


@pytest.mark.parametrize("fv_scale", [1, 16, 24, 128])
def test_the_scale_divides_the_output(fv_scale: int) -> None:
    agree(NnueProbe(to_play(network_file(SMALL), fv_scale)), reference_of(SMALL, fv_scale))


@pytest.mark.parametrize("output, value", [(31, 1), (-31, -1), (-15, 0), (2**30, 20000), (-(2**30), -20000)])
def test_values_round_towards_zero_and_stay_short_of_mate(output: int, value: int) -> None:
    file = network_file(SMALL)
    last = len(file.dense) - 4 - 32
    dense = file.dense[:last] + output.to_bytes(4, "little", signed=True) + bytes(32)
    assert NnueProbe(to_play(replace(file, dense=dense))).evaluate(MATSURI) == value


def test_a_state_can_use_another_network() -> None:
    probe = NnueProbe(to_play(network_file(SMALL)))
    for case in [*CASES, *reversed(CASES)]:
        probe.use(to_play(network_file(case)))
        agree(probe, reference_of(case))


def changed(name: str, **values: object) -> Architecture:
    return replace(parse_name(name), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "architecture, fault",
    [
        (changed(SMALL, features="HalfKPE9"), "HalfKPE9"),
        (changed(SMALL, width=32), "width 32"),
        (changed(SMALL, width=8224), "width 8224"),
        (changed(SMALL, width=72), "width 72"),
        (changed(SMALL, hidden1=0), "0 units"),
        (changed(SMALL, hidden2=129), "129 units"),
        (changed(SMALL, kings="k3k3"), "9 layer stacks"),
        (changed(SMALL, shards=2), "2 shards"),
        (changed("SFNN_ka2_128_7_64", width=96), "width 96"),
        (changed("SFNN_ka2_128_7_64", hidden1=9), "9 units"),
        (changed("SFNN_ka2_128_7_64", kings="k4k4"), "k4k4"),
        (changed("SFNN_ka2_128_7_64", hands="hand1024", kings="k9k9"), "82944"),
        (changed("SFNN_ka2_512_7_64", shards=3), "3 shards"),
        (changed("SFNN_ka2_512_7_64", common=32, shards=5), "5 shards"),
        (changed("SFNN_ka2_512_7_64", common=512, shards=8), "8 shards"),
        (changed("SFNN_ka2_512_7_64", common=64), "1 shards"),
    ],
)
def test_an_architecture_that_play_does_not_take_is_refused(architecture: Architecture, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        check_architecture(architecture)
    with pytest.raises(ValueError, match=fault):
        Network(architecture, np.zeros(1, np.int16), np.zeros((1, 1), np.int16), b"", None, 16)


def test_arrays_that_do_not_fit_are_refused() -> None:
    file = network_file(SMALL)
    bias, weight, dense = file.bias, file.weight, file.dense
    progress = 0, np.zeros(PROGRESS_SHAPE, np.int32)
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
    arrays = np.zeros(64, np.int16), np.zeros((1710, 64), np.int16), bytes(2 * stack_size(by_progress))
    for given in (None, (0, progress[1][:80])):
        with pytest.raises(ValueError):
            Network(by_progress, *arrays, given, 16)
