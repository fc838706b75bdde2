"""nn.bin: round trips, published hashes and texts, refusals in one line, damaged files."""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.eval.nnue.reference import random_network, read_reference
from usi_engine.evaluation.names import WeightsError
from usi_engine.evaluation.network_file import (
    LARGEST_FILE,
    Architecture,
    NetworkFile,
    format_architecture,
    read_network,
    write_network,
)

K_P = Architecture("K+P", 256, 32, 32)
SMALL = Architecture("K+P", 128, 8, 8)
ARCHITECTURES = [K_P, SMALL, Architecture("K+P", 1024, 96, 41), Architecture("HalfKP", 128, 9, 96)]
# Hashes that YaneuraOu's builds for 256x2-32-32 require: file, first layer, dense layers.
PUBLISHED = {"K+P": (0x5C6464A9, 0x3F5715FF, 0x63337156), "HalfKP": (0x3E5AA6EE, 0x5D69D7B8, 0x63337156)}
TEXT = (
    "Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-32]"
    "(ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))"
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("nnue") / "nn.bin"
    write_network(path, random_network(SMALL))
    return path.read_bytes()


def refusal(path: Path, data: bytes | None = None) -> str:
    """Return the one line of the refusal."""
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(WeightsError) as error:
        read_network(path)
    line = str(error.value)
    assert "\n" not in line
    assert path.name in line
    return line


def with_text(data: bytes, text: str) -> bytes:
    length = struct.unpack_from("<I", data, 8)[0]
    return data[:8] + struct.pack("<I", len(text)) + text.encode() + data[12 + length :]


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
def test_round_trip(architecture: Architecture, tmp_path: Path) -> None:
    written, path = random_network(architecture), tmp_path / "any name"
    size = write_network(path, written)
    assert size == path.stat().st_size
    found, reference = read_network(path), read_reference(path)
    assert found.architecture == architecture
    assert found.text == format_architecture(architecture)
    assert np.array_equal(found.ft_bias, written.ft_bias)
    assert np.array_equal(found.ft_weight, written.ft_weight)
    assert np.array_equal(reference.rows, written.ft_weight)
    for layer, expected, plain in zip(found.layers, written.layers, reference.layers, strict=True):
        for i in range(2):
            assert np.asarray(layer[i]).flags.aligned
            assert np.array_equal(layer[i], expected[i])
            assert np.array_equal(plain[i], expected[i])
    write_network(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("features", PUBLISHED)
def test_hashes_and_text_are_the_published_ones(features: str, tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    write_network(path, random_network(Architecture(features, 256, 32, 32)))
    data = path.read_bytes()
    text = TEXT if features == "HalfKP" else TEXT.replace("HalfKP(Friend)[125388", "K+P[1710")
    assert data[12 : 12 + len(text)].decode() == text
    rows = 125388 if features == "HalfKP" else 1710
    found = [struct.unpack_from("<I", data, at)[0] for at in (4, 12 + len(text), 16 + len(text) + 512 * (1 + rows))]
    assert tuple(found) == PUBLISHED[features]


def test_a_folder_names_its_nn_bin(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(good)
    assert read_network(tmp_path).architecture == read_network(str(tmp_path)).architecture == SMALL


def test_additions_to_the_text_are_kept(good: bytes, tmp_path: Path) -> None:
    text = format_architecture(SMALL) + ",trained on Tuesday"
    path = tmp_path / "nn.bin"
    path.write_bytes(with_text(good, text))
    found = read_network(path)
    assert (found.architecture, found.text) == (SMALL, text)
    write_network(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "text, fault",
    [
        (format_architecture(Architecture("K+P", 96, 8, 8)), "width 96"),
        (format_architecture(Architecture("K+P", 130, 8, 8)), "width 130"),
        (format_architecture(Architecture("K+P", 128, 7, 8)), "7 units"),
        (format_architecture(Architecture("K+P", 128, 8, 97)), "97 units"),
        (format_architecture(SMALL).replace("1710", "1711"), "contradicts"),
        (format_architecture(SMALL).replace("(0:256)", "(0:128)"), "contradicts"),
        (format_architecture(SMALL) + "x", "contradicts"),
        (format_architecture(SMALL)[:-1], "contradicts"),
        (format_architecture(SMALL).replace("K+P", "HalfKPE9"), "only K+P and HalfKP"),
        ("ModelType=SFNNWithoutPsqt;" + format_architecture(SMALL), "only K+P and HalfKP"),
        (format_architecture(SMALL).replace("128", "\N{ARABIC-INDIC DIGIT ONE}"), "damaged"),
        ("line\nfeed", "only K+P and HalfKP"),
        (format_architecture(Architecture("HalfKP", 1024, 96, 96)), "bytes"),
        (format_architecture(Architecture("K+P", 128, 8, 9)), "bytes"),
    ],
)
def test_another_architecture_is_refused(good: bytes, text: str, fault: str, tmp_path: Path) -> None:
    data = with_text(good, text) if text.isascii() else good[:12] + text.encode() + good[12 + len(text) :]
    assert fault in refusal(tmp_path / "nn.bin", data)


def test_hashes_are_checked(good: bytes, tmp_path: Path) -> None:
    length = struct.unpack_from("<I", good, 8)[0]
    places = {"the file": 4, "the first layer": 12 + length, "the dense layers": 16 + length + 256 * 1711}
    for whose, at in places.items():
        damaged = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
        assert f"hash of {whose}" in refusal(tmp_path / "nn.bin", damaged)


@pytest.mark.parametrize("bias", [0x7FFFFFFF, 0x80000000, 0xC0000000 - 1])
def test_a_bias_that_overflows_is_refused(good: bytes, bias: int, tmp_path: Path) -> None:
    length = struct.unpack_from("<I", good, 8)[0]
    at = 12 + length + 4 + 256 * 1711 + 4
    data = good[:at] + struct.pack("<I", bias) + good[at + 4 :]
    assert "overflow" in refusal(tmp_path / "nn.bin", data)


def test_other_files_are_refused(good: bytes, tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "nowhere")
    assert "no such file" in refusal(tmp_path)  # a folder without nn.bin
    assert "no such file" in refusal(tmp_path / "nowhere" / "nn.bin")
    assert "few" in refusal(tmp_path / "empty", b"")
    assert "version" in refusal(tmp_path / "text", b"not a network at all")
    assert "length of its text" in refusal(tmp_path / "long", good[:8] + b"\xff\xff\xff\xff" + good[12:])
    assert "bytes" in refusal(tmp_path / "more", good + b"\0")
    with pytest.raises(WeightsError):
        read_network("a\0path")
    with pytest.raises(WeightsError):
        read_network("~nobody-of-this-name/nn.bin")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "regular" in refusal(tmp_path / "pipe")


def test_a_huge_file_is_refused_unread(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    path.write_bytes(good)
    os.truncate(path, LARGEST_FILE + 1)
    assert "more than such a file" in refusal(path)


def test_reading_takes_no_more_memory_than_the_file_and_its_arrays(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    path.write_bytes(good)
    tracemalloc.start()
    read_network(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(good) < peak < 3 * len(good)


def test_truncated_files_are_refused(good: bytes, tmp_path: Path) -> None:
    chance = random.Random(1)
    for length in [*range(0, 400, 3), *chance.sample(range(len(good)), 50), len(good) - 1]:
        refusal(tmp_path / "nn.bin", good[:length])


def test_damaged_headers_are_refused(good: bytes, tmp_path: Path) -> None:
    chance = random.Random(2)
    header = 12 + struct.unpack_from("<I", good, 8)[0] + 4
    for at in range(header):
        damaged = bytearray(good)
        damaged[at] ^= 1 << chance.randrange(8)
        refusal(tmp_path / "nn.bin", bytes(damaged))


def test_wrong_arrays_are_not_written(tmp_path: Path) -> None:
    network = random_network(SMALL)
    wrong = [
        NetworkFile(K_P, "", network.ft_bias, network.ft_weight, network.layers),
        NetworkFile(SMALL, "", network.ft_bias, network.ft_weight, network.layers[:2]),
        NetworkFile(SMALL, "", network.ft_bias.astype(np.int64), network.ft_weight, network.layers),
        NetworkFile(SMALL, format_architecture(K_P), network.ft_bias, network.ft_weight, network.layers),
        NetworkFile(SMALL, "any text", network.ft_bias, network.ft_weight, network.layers),
    ]
    for one in wrong:
        with pytest.raises(ValueError):
            write_network(tmp_path / "nn.bin", one)
    assert not (tmp_path / "nn.bin").exists()
