"""The vector kernels of this build and the portable ones against numpy, bit for bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from core_ext import _nnue_kernels, _nnue_portable
from core_ext.eval.nnue.network import INSTRUCTIONS

WIDTHS = [64, 96, *range(128, 513, 32), 544, 1024]
FORMS = [_nnue_kernels, _nnue_portable]


def test_the_build_names_its_instructions() -> None:
    parts = INSTRUCTIONS.split()
    assert parts[0] in {"AVX-512", "AVX2", "SSE4.1", "NEON", "portable"} and parts[1:] in ([], ["VNNI"], ["DOTPROD"])


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
def test_sums_are_clipped(width: int) -> None:
    rng = np.random.default_rng(width)
    sums = [some_sums(rng, width) for _ in range(2)]
    for form in FORMS:
        out = np.empty(2 * width, np.uint8)
        form.activate(False, out, *sums)
        assert np.array_equal(out, np.concatenate(sums).clip(0, 127)), form.__name__


@pytest.mark.parametrize("width", [*range(64, 513, 64), 1024])
def test_pairs_of_sums_are_multiplied(width: int) -> None:
    rng = np.random.default_rng(width)
    sums = [some_sums(rng, width) for _ in range(2)]
    left, right = (np.concatenate([one[half] for one in sums]).astype(np.int64).clip(0, 254)
                   for half in (slice(0, width // 2), slice(width // 2, width)))  # fmt: skip
    for form in FORMS:
        out = np.empty(width, np.uint8)
        form.activate(True, out, *sums)
        assert np.array_equal(out, left * right // 512), form.__name__


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
                if inputs % 64 == 0:
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
