"""nn.bin: names and texts of architectures, round trips, published hashes, refusals in one line, damaged files."""

import io
import os
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core_ext.base.leb128 import decode, encode
from tests.damage import accepted, cuts, flips
from tests.eval.nnue.networks import random_network
from tests.eval.nnue.reference import leb128, read_reference
from tests.positions import data_rows, described_rows
from usi_engine.evaluation.architecture import Architecture, format_text, parse_name, parse_text
from usi_engine.evaluation.load import load_network
from usi_engine.evaluation.names import WeightsError
from usi_engine.evaluation.network_file import LARGEST_FILE, parse_network, read_network, stack_size, write_network

SMALL = parse_name("NNUE_kp_64x2_8_8")
NAMES = ["NNUE_kp_64x2_8_8", "NNUE_ka2_64x2_9_96", "SFNN_kp_64_7_16", "SFNN_ka2_64_8_8_k3k3_progress2"]
# Hashes that YaneuraOu's builds for 256x2-32-32 require: file, transformer, dense layers.
PUBLISHED = {"kp": (0x5C6464A9, 0x3F5715FF, 0x63337156), "halfkp": (0x3E5AA6EE, 0x5D69D7B8, 0x63337156)}


@pytest.fixture(scope="module", params=NAMES)
def good(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("nnue") / "nn.bin"
    write_network(path, random_network(parse_name(request.param)))
    return path.read_bytes()


def refusal(path: Path, data: bytes | None = None) -> str:
    """Return the one line of the refusal."""
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(WeightsError) as error:
        read_network(path)
    line = str(error.value)
    assert "\n" not in line
    assert path.name in line and error.value.__suppress_context__
    return line


def text_end(data: bytes) -> int:
    return 12 + int(struct.unpack_from("<I", data, 8)[0])


def with_text(data: bytes, text: str) -> bytes:
    coded = text.encode("utf-8", "surrogateescape")
    return data[:8] + struct.pack("<I", len(coded)) + coded + data[text_end(data) :]


# ---- names and texts ----


@pytest.mark.parametrize(("text", "name"), data_rows("architectures.tsv"))
def test_texts_of_public_files(text: str, name: str) -> None:
    found = parse_text(text)
    assert found.name == name
    assert parse_text(format_text(found)) == found


@pytest.mark.parametrize(("text", "fault"), described_rows("network_texts.jsonl"))
def test_another_architecture_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    write_network(tmp_path / "nn.bin", random_network(SMALL))
    data = (tmp_path / "nn.bin").read_bytes()
    changed = data[:12] + text.encode() + data[12 + len(text) :]
    assert fault in refusal(tmp_path / "nn.bin", with_text(data, text) if text.isascii() else changed)


def test_other_spellings_of_names() -> None:
    for name in ("halfkp_1024x2-8-64", "YANEURAOU_ENGINE_NNUE_HALFKP_1024X2_8_64"):
        assert parse_name(name) == parse_name("NNUE_halfkp_1024x2_8_64")
    name = "SFNN-KA2-64-7-16-PROGRESS8-king9zone_by_king9zone-hand4"
    assert parse_name(name).name == "SFNN_ka2_64_7_16_hand4_k9k9z_progress8"


# ---- files ----


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str, tmp_path: Path) -> None:
    written, path = random_network(parse_name(name), wild=True), tmp_path / "any name"
    size = write_network(path, written)
    assert size == path.stat().st_size
    found, reference = read_network(path), read_reference(path)
    assert (found.architecture, found.text) == (parse_name(name), format_text(written.architecture))
    for numbers, again, plain in (
        (written.bias, found.bias, reference.bias), (written.weight, found.weight, reference.rows)
    ):  # fmt: skip
        assert np.asarray(again).flags.aligned
        assert np.array_equal(numbers, again) and np.array_equal(numbers, plain)
    assert found.dense == written.dense
    assert (found.progress is None) == (written.progress is None)
    if found.progress is not None and written.progress is not None:
        assert found.progress[0] == written.progress[0] and np.array_equal(found.progress[1], written.progress[1])
    write_network(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("features", PUBLISHED)
def test_hashes_are_the_published_ones(features: str, tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    architecture = parse_name(f"NNUE_{features}_256x2_32_32")
    write_network(path, random_network(architecture))
    data = path.read_bytes()
    end = text_end(data)
    places = (4, end, end + 4 + 512 * (1 + architecture.feature_count))
    assert tuple(struct.unpack_from("<I", data, at)[0] for at in places) == PUBLISHED[features]


def test_other_hashes_are_accepted(good: bytes) -> None:
    """YaneuraOu only warns too: some public networks have other hashes."""
    at = text_end(good)
    changed = good[:4] + b"hash" + good[8:at] + b"hash" + good[at + 4 :]
    assert parse_network(io.BytesIO(changed), len(changed)).dense == parse_network(io.BytesIO(good), len(good)).dense


@pytest.mark.parametrize("remark", ["trained on Tuesday", "作者", "\udc8d\udcec\udc8e\udcd2"])  # the last in Shift JIS
def test_additions_to_the_text_are_kept(good: bytes, remark: str, tmp_path: Path) -> None:
    text = f"{good[12 : text_end(good)].decode()},{remark}"
    path, data = tmp_path / "nn.bin", with_text(good, text)
    path.write_bytes(data)
    found = read_network(path)
    assert found.text == text
    write_network(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == data


@pytest.mark.parametrize("bias", [0x7FFFFFFF, 0x80000000, 0xBFFFFFFF])
def test_a_bias_that_overflows_is_refused(good: bytes, bias: int, tmp_path: Path) -> None:
    architecture = parse_text(good[12 : text_end(good)].decode())
    for stack in (1, architecture.stacks):
        at = len(good) - stack * stack_size(architecture) + 4
        (tmp_path / "nn.bin").write_bytes(good[:at] + struct.pack("<I", bias) + good[at + 4 :])
        with pytest.raises(WeightsError, match=r"^cannot use the network .*overflow$"):
            load_network(tmp_path / "nn.bin", 16)


def test_damaged_blocks_of_leb128_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    write_network(path, random_network(parse_name("SFNN_kp_64_7_16")))
    data = path.read_bytes()
    magic = data.index(b"COMPRESSED")
    longer = data[: magic + 17] + struct.pack("<I", 63) + data[magic + 21 :]
    assert "LEB128" in refusal(path, data.replace(b"COMPRESSED", b"COMPOSED..", 1))
    assert "LEB128" in refusal(path, longer)
    assert "LEB128" in refusal(path, data[: magic + 21] + b"\x80" * 40 + data[magic + 61 :])
    weights = data.index(b"COMPRESSED", magic + 1) + 21
    end = weights + struct.unpack_from("<I", data, weights - 4)[0]
    assert "1 numbers are missing" in refusal(path, data[: end - 1] + bytes([data[end - 1] | 128]) + data[end:])
    assert "bytes, not the" in refusal(path, data + b"\0")


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


def test_a_huge_file_is_refused_unread(good: bytes, tmp_path: Path) -> None:
    """Reading takes little more memory than the arrays."""
    path = tmp_path / "nn.bin"
    path.write_bytes(good)
    tracemalloc.start()
    read_network(path)
    assert tracemalloc.get_traced_memory()[1] < 3 * len(good) + (1 << 18)
    tracemalloc.stop()
    many = f"too many for such a file, at most {LARGEST_FILE}"
    for size, fault in ((LARGEST_FILE + 1, many), (LARGEST_FILE, "bytes, not the")):
        os.truncate(path, size)
        tracemalloc.start()
        assert fault in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


def test_truncated_files_and_damaged_headers_are_refused(good: bytes, tmp_path: Path) -> None:
    places = [at for at in range(text_end(good)) if not 4 <= at < 8]
    damaged = flips(good, places, bits=0x1F)  # bit 5 is the case of a letter
    assert accepted(read_network, tmp_path / "nn.bin", [*damaged, *cuts(good, 200)], WeightsError) == 0


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arrays_are_not_written(name: str, tmp_path: Path) -> None:
    network = random_network(parse_name(name))
    wrong = [
        replace(network, architecture=replace(network.architecture, width=96)),
        replace(network, architecture=replace(network.architecture, width=63)),
        replace(network, bias=network.bias.astype(np.int64)),
        replace(network, weight=network.weight[:-1]),
        replace(network, dense=network.dense[:-1]),
        replace(network, progress=None if network.progress else (0, np.zeros((81, 1548), np.int32))),
        replace(network, progress=(0, np.zeros((1548, 81), np.int32))),
        replace(network, text=format_text(Architecture("K+P", 96, 8, 8))),
        replace(network, text="any text"),
    ]
    if network.architecture.sfnn:
        wrong.append(replace(network, weight=network.weight | 1))
    for one in wrong:
        with pytest.raises(ValueError):
            write_network(tmp_path / "nn.bin", one)
    assert not (tmp_path / "nn.bin").exists()


def test_leb128_against_numpy() -> None:
    rng = np.random.default_rng(3)
    edges = np.array([-32768, -8193, -8192, -65, -64, -1, 0, 1, 63, 64, 8191, 8192, 32767], np.int16)
    for count in [*range(1, 30), 1000]:
        for numbers in (rng.choice(edges, count), rng.integers(-64, 64, count, np.int16), rng.integers(-70, 70, count)):
            data, out = encode(numbers.astype(np.int16), 1), np.empty(count, np.int16)
            assert np.array_equal(leb128(data), numbers)
            for at in {0, *rng.integers(0, len(data), 3).tolist()}:  # in two parts
                done, used = decode(data[:at], out, 1)
                assert at - 3 < used <= at and decode(data[used:], out[done:], 1) == (count - done, len(data) - used)
                assert np.array_equal(out, numbers)
            for wrong in (data + b"\0", data[:-1] + b"\x80\x80\x80\0"):
                with pytest.raises(ValueError):
                    decode(wrong, out, 1)
    assert encode(np.zeros(0, np.int16), 1) == b""
    with pytest.raises(ValueError, match="3 bytes are not up to 1 numbers"):
        decode(encode(np.array([20000], np.int16), 1), np.empty(1, np.int16), 2)
    with pytest.raises(ValueError, match="multiples of 2"):
        encode(np.array([1], np.int16), 2)
