"""Free memory on Linux, which grants more memory than it has and kills the process that uses it.

Other systems refuse the allocation, so nothing is checked there.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from usi_engine.language import _

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# Names of the limit, the usage, and the parts of the usage that can be freed (in memory.stat): cgroup v2, then v1.
CGROUP_FILES = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
)
RESERVE = 64  # megabytes kept free for everything but tables
ALWAYS_TRIED = 16  # megabytes: a table of this size is tried even if it seems not to fit, since the engine must play


def check_free(megabytes: int) -> None:
    """Raise MemoryError if a table of this size is known not to fit."""
    free = free_megabytes() if megabytes > ALWAYS_TRIED else None
    if free is not None and megabytes + RESERVE > free:
        text = _("no memory for a table of {megabytes} MB: {free} MB are free")
        raise MemoryError(text.format(megabytes=megabytes, free=free))


def fitting(count: int, megabytes: int) -> int:
    """Return how many of `count` things of this size are not known to exceed the free memory; 0 or more."""
    free = free_megabytes() if count > 0 else None
    return max(count if free is None else min(count, (free - RESERVE) // megabytes), 0)


def free_megabytes(proc: Path = PROC, cgroups: Path = CGROUPS) -> int | None:
    """Return the megabytes that the machine and the process's containers still allow; None if unknown."""
    if sys.platform != "linux":
        return None
    found = list(free_in_containers(proc, cgroups))
    with suppress(OSError, ValueError, KeyError):
        found.append(1024 * int(read_fields(proc / "meminfo")["MemAvailable:"]))
    return max(min(found), 0) >> 20 if found else None


def free_in_containers(proc: Path, cgroups: Path) -> Iterator[int]:
    """Yield the bytes left by the limit of each cgroup (container, service) that contains this process."""
    with suppress(OSError, ValueError):
        for line in (proc / "self" / "cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                inner = cgroups / controllers / path.strip("/")
                for folder in (inner, *inner.parents):
                    yield from free_in_cgroup(folder)


def free_in_cgroup(folder: Path) -> Iterator[int]:
    """Yield the bytes that are left below the cgroup's limit, if it has one."""
    for limit, usage, freeable in CGROUP_FILES:
        with suppress(OSError, ValueError, KeyError):
            left = int((folder / limit).read_text(encoding="ascii")) - int((folder / usage).read_text(encoding="ascii"))
            stat = read_fields(folder / "memory.stat")
            yield left + sum(int(stat[name]) for name in freeable)


def read_fields(file: Path) -> dict[str, str]:
    """Return a dict from the first word of each line to its second. OSError."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[1] for words in lines if len(words) > 1}
