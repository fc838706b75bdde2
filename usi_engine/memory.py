"""How much memory is free, as Linux promises more than it has and kills the process that uses it.

Elsewhere an allocation fails, which is enough.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# Names of limit, use and of the parts of the use that can be freed (in memory.stat), in cgroups of version 2 and 1.
CGROUP_FILES = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
)
# Megabytes of the free memory for all that is not a table, and of a table that is tried all the same.
LEFT_FREE = 64
ALWAYS_TRIED = 16


def check_free(megabytes: int) -> None:
    """MemoryError where a table of so much is known not to fit; a small one is tried, as the engine must play."""
    free = free_megabytes() if megabytes > ALWAYS_TRIED else None
    if free is not None and megabytes + LEFT_FREE > free:
        raise MemoryError(f"no memory for a table of {megabytes} MB: {free} MB are free")


def free_megabytes(proc: Path = PROC, cgroups: Path = CGROUPS) -> int | None:
    """What this process can still use, by the machine's memory and its containers' limits; None where unknown."""
    if sys.platform != "linux":
        return None
    found = [*machine(proc), *containers(proc, cgroups)]
    return max(min(found), 0) >> 20 if found else None


def machine(proc: Path) -> Iterator[int]:
    """Bytes that are free or can be freed, by /proc/meminfo."""
    with suppress(OSError, ValueError, KeyError):
        yield 1024 * int(fields(proc / "meminfo")["MemAvailable:"])


def containers(proc: Path, cgroups: Path) -> Iterator[int]:
    """Bytes left of each limit of the cgroups (containers, services) that hold this process."""
    with suppress(OSError, ValueError):
        for line in (proc / "self" / "cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                inner = cgroups / controllers / path.strip("/")
                for folder in (inner, *inner.parents):
                    yield from left_in(folder)


def left_in(cgroup: Path) -> Iterator[int]:
    """Bytes left in a cgroup; nothing where it has no limit."""
    for limit, use, freeable in CGROUP_FILES:
        with suppress(OSError, ValueError, KeyError):
            left = int((cgroup / limit).read_text(encoding="ascii")) - int((cgroup / use).read_text(encoding="ascii"))
            stat = fields(cgroup / "memory.stat")
            yield left + sum(int(stat[name]) for name in freeable)


def fields(file: Path) -> dict[str, str]:
    """First word of each line -> its second. OSError."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[1] for words in lines if len(words) > 1}
