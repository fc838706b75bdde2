"""The value of a network: against the plain reference, incremental against full sums, bounds, symmetry."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core_ext._nnue_probe import NnueProbe
from core_ext._probe import walk_evaluator
from core_ext.eval.nnue.network import Network
from tests.eval.nnue.reference import Reference, random_network, read_reference
from tests.eval.test_evaluate import check_counts
from tests.positions import MATSURI, STARTS, flipped, random_boards
from tests.shogi.slow_shogi import START
from usi_engine.evaluation.network_file import Architecture, NetworkFile, read_network, write_network

POSITIONS = STARTS[1:]
WILD = "words of the whole range"
K_P, HALF_KP = [(256, 32, 32), (1024, 8, 32), (160, 33, 17), (384, 96, 96)], [(128, 32, 32), (224, 16, 8)]
SIZES = [*(("K+P", *sizes) for sizes in K_P), *(("HalfKP", *sizes) for sizes in HALF_KP)]
WILD_SIZES = [("K+P", 128, 48, 64), ("HalfKP", 128, 96, 95)]
CASES = {str(Architecture(*sizes)): Architecture(*sizes) for sizes in SIZES}
CASES |= {f"{Architecture(*sizes)}, {WILD}": Architecture(*sizes) for sizes in WILD_SIZES}


def to_play(file: NetworkFile, fv_scale: int = 16) -> Network:
    return Network(file.architecture.features, file.ft_bias, file.ft_weight, file.layers, fv_scale)


@cache
def network_file(case: str) -> NetworkFile:
    return random_network(CASES[case], seed=len(case), wild=WILD in case)


def reference_of(file: NetworkFile, fv_scale: int = 16) -> Reference:
    half_kp = file.architecture.features == "HalfKP"
    return Reference(half_kp, file.ft_weight, file.ft_bias, list(file.layers), fv_scale)


@pytest.mark.parametrize("case", CASES)
def test_values_equal_the_reference(case: str) -> None:
    file = network_file(case)
    reference, probe = reference_of(file), NnueProbe(to_play(file))
    values = set()
    for sfen in [*POSITIONS, *[board.sfen() for board in random_boards(3, 240)][::6]]:
        value = reference.value(sfen)
        assert probe.evaluate(sfen) == value, sfen
        assert probe.evaluate_from_scratch(sfen) == value, sfen
        values.add(value)
    assert len(values) > 30  # not a constant


def agree(probe: NnueProbe, reference: Reference) -> None:
    assert [probe.evaluate(sfen) for sfen in POSITIONS] == [reference.value(sfen) for sfen in POSITIONS]


def test_a_file_has_the_values_of_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    write_network(path, network_file("K+P 160x2-33-17"))
    agree(NnueProbe(to_play(read_network(path))), read_reference(path))


@pytest.mark.parametrize("case", CASES)
def test_accumulators_after_moves_are_those_of_the_reference(case: str) -> None:
    """After up to twelve moves without an evaluation: more than are updated incrementally."""
    file = network_file(case)
    reference, probe = reference_of(file), NnueProbe(to_play(file))
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


@pytest.mark.parametrize("sfen", POSITIONS)
@pytest.mark.parametrize("case", CASES)
def test_incremental_sums_equal_full_sums(case: str, sfen: str) -> None:
    check_walk(case, sfen, 1, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_incremental_sums_equal_full_sums_on_a_million_positions(case: str) -> None:
    for seed, sfen in enumerate(POSITIONS):
        check_walk(case, sfen, 100 + seed, 1_000_000 // len(POSITIONS) + 1)


def test_a_flipped_position_has_the_same_value() -> None:
    for case in ("K+P 256x2-32-32", "HalfKP 128x2-32-32"):
        probe = NnueProbe(to_play(network_file(case)))
        for board in random_boards(11, 100):
            assert probe.evaluate(board.sfen()) == probe.evaluate(flipped(board.sfen()))


@pytest.mark.parametrize("fv_scale", [1, 16, 24, 128])
def test_the_scale_divides_the_output(fv_scale: int) -> None:
    file = network_file("K+P 160x2-33-17")
    agree(NnueProbe(to_play(file, fv_scale)), reference_of(file, fv_scale))


@pytest.mark.parametrize("output, value", [(31, 1), (-31, -1), (-15, 0), (2**31 - 1, 20000), (-(2**31), -20000)])
def test_values_round_towards_zero_and_stay_short_of_mate(output: int, value: int) -> None:
    file = network_file("K+P 160x2-33-17")
    silent = (np.array([output], np.int32), np.zeros_like(file.layers[2][1]))
    probe = NnueProbe(to_play(replace(file, layers=[*file.layers[:2], silent])))
    assert probe.evaluate(MATSURI) == value


def test_a_state_can_use_another_network() -> None:
    files = [network_file(case) for case in CASES]
    probe = NnueProbe(to_play(files[0]))
    for file in [*files, *reversed(files)]:
        probe.use(to_play(file))
        agree(probe, reference_of(file))


def test_padding_is_ignored() -> None:
    file = network_file("K+P 160x2-33-17")
    noisy = [(bias, weight.copy()) for bias, weight in file.layers]
    noisy[1][1][:, 33:], noisy[2][1][:, 17:] = 99, -99
    agree(NnueProbe(to_play(replace(file, layers=noisy))), reference_of(file))


def test_sizes_that_do_not_fit_are_refused() -> None:
    file = network_file("K+P 160x2-33-17")
    bias, weight, layers = file.ft_bias, file.ft_weight, file.layers
    wrong = [
        ("HalfKP", bias, weight, layers, 16),
        ("KP", bias, weight, layers, 16),
        ("K+P", bias[:159], weight[:, :159].copy(), layers, 16),
        ("K+P", bias[:128], weight, layers, 16),
        ("K+P", bias, weight[:-1], layers, 16),
        ("K+P", bias, weight, layers[:2], 16),
        ("K+P", bias, weight, [layers[0], layers[0], layers[2]], 16),
        ("K+P", bias, weight, [layers[0], layers[1], layers[1]], 16),
        ("K+P", bias, weight, [(layers[0][0][:7], layers[0][1][:7]), *layers[1:]], 16),
        ("K+P", bias, weight, [(layers[0][0][:20], layers[0][1]), *layers[1:]], 16),
        ("K+P", bias, weight, layers, 0),
        ("K+P", bias, weight, layers, -1),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            Network(*arguments)
    assert Network("K+P", bias, weight, layers, 16).hidden == (33, 17)
