"""Damage to valid files, for the tests of every reader."""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

BEGINNINGS = (200, 3000)  # bytes of a file that are damaged often


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Change, delete, repeat or add a few bytes of the data; sometimes return other data."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.choice([0, 1, 20, 3000]))
    changed, kinds = bytearray(data), rng.choice([[0], range(6)])  # half of the time the size stays
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(min(len(changed), rng.choice([*BEGINNINGS, len(changed)])) or 1)
        length, kind = rng.choice([1, 1, 4, 40]), rng.choice(kinds)
        if kind == 0:
            changed[at : at + 1] = rng.choice([b"\0", b"\x7f", b"\x80", b"\xff", rng.randbytes(1), rng.randbytes(1)])
        elif kind == 1:
            changed[at:at] = rng.randbytes(length)
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            other = rng.randrange(len(changed) + 1)
            changed[at:at] = changed[other : other + length]
        elif kind == 4:
            changed[at:at] = rng.choice([b"9" * 5000, b"\xff" * 4, b"-", b"\n", b"\t", "駒".encode(), b"0"])
        else:
            del changed[at:]
    return bytes(changed)


def cuts(data: bytes, count: int = 50) -> Iterator[bytes]:
    """Yield the data cut off at `count` places: within its first bytes, evenly over the rest, before the last byte."""
    near, far = range(min(len(data), count // 2)), range(0, len(data), max(2 * len(data) // count, 1))
    for size in sorted({*near, *far, len(data) - 1}):
        yield data[:size]


def flips(data: bytes, places: Iterable[int], bits: int = 0xFF) -> Iterator[bytes]:
    """Yield the data with one of these bits wrong, at each place in turn."""
    rng = random.Random(len(data))
    choices = [1 << bit for bit in range(8) if bits >> bit & 1]
    for at in places:
        damaged = bytearray(data)
        damaged[at] ^= rng.choice(choices)
        yield bytes(damaged)


def random_flips(data: bytes, count: int) -> Iterator[bytes]:
    """Yield the data with one wrong bit, at `count` random places in turn."""
    return flips(data, random.Random(count).choices(range(len(data)), k=count))


def accepted(
    read: Callable[[Path], object], path: Path, contents: Iterable[bytes], fault: type[Exception], quoted: str = ""
) -> int:
    """Read the file with each content; return how many are accepted.

    Each other must raise `fault`, with one line that has the quoted text.
    """
    count = 0
    for content in contents:
        path.write_bytes(content)
        try:
            read(path)
        except fault as error:
            assert quoted in str(error) and "\n" not in str(error), error
        else:
            count += 1
    return count
