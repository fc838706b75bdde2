"""Free memory by /proc and cgroups, and the tables that fit into it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.engine.conftest import ScriptedEngine
from tests.engine.fake_core import Script
from usi_engine import memory
from usi_engine.memory import free_megabytes
from usi_engine.search.threads import WORKER_MEGABYTES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the allocation")

MB = 1 << 20


def free(folder: Path, files: dict[str, str]) -> int | None:
    """Write the files into the folder; return the free megabytes by them."""
    meminfo = "MemTotal: 8192000 kB\nMemFree: 1 kB\nMemAvailable: 4096000 kB\n"
    for name, text in {"proc/meminfo": meminfo, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return free_megabytes(folder / "proc", folder / "cgroup")


def cgroup(limit: str, use: int, reclaimable: int) -> dict[str, str]:
    """Return the files of a cgroup v2; arguments are in MB."""
    bytes_of = limit if limit == "max" else str(int(limit) * MB)
    stat = f"anon 1\nfile 2\ninactive_file {(reclaimable - 10) * MB}\nactive_file {10 * MB}\n"
    return {"memory.max": f"{bytes_of}\n", "memory.current": f"{use * MB}\n", "memory.stat": stat}


def test_the_machine_alone(tmp_path: Path) -> None:
    assert free(tmp_path, {}) == 4000
    assert free(tmp_path, {"proc/self/cgroup": "0::/\n"}) == 4000
    assert (free_megabytes() or 0) > 0


@pytest.mark.parametrize(
    "inner, outer, left",
    [("max", "max", 4000), ("1024", "max", 854), ("2048", "1024", 854), ("100", "1024", 0), ("9000", "9000", 4000)],
)
def test_a_container_in_another(tmp_path: Path, inner: str, outer: str, left: int) -> None:
    """The tightest limit counts; file pages in use can be freed."""
    files = {"proc/self/cgroup": "0::/outer/inner\n"}
    for name, limit in (("outer", outer), ("outer/inner", inner)):
        files |= {f"cgroup/{name}/{file}": text for file, text in cgroup(limit, 200, 30).items()}
    assert free(tmp_path, files) == left


def test_cgroup_v1(tmp_path: Path) -> None:
    files = {
        "memory.limit_in_bytes": str(500 * MB),
        "memory.usage_in_bytes": str(100 * MB),
        "memory.stat": f"inactive_file 1\ntotal_inactive_file {20 * MB}\ntotal_active_file {30 * MB}\n",
    }
    text = "9:name=systemd:/\n4:memory:/docker/ab\n0::/\n"
    named = {f"cgroup/memory/docker/ab/{name}": text for name, text in files.items()}
    assert free(tmp_path, {"proc/self/cgroup": text, **named}) == 450


@pytest.mark.parametrize("text", ["", "4", "4:memory\n", "0::/../..\n", "nonsense\n"])
def test_unreadable_files_are_skipped(tmp_path: Path, text: str) -> None:
    assert free(tmp_path, {"proc/self/cgroup": text}) == 4000
    assert free_megabytes(tmp_path / "none", tmp_path / "none") is None


def test_a_table_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried, because Linux would kill the engine while it fills the table."""
    monkeypatch.setattr(memory, "free_megabytes", lambda: 100)
    script = Script()
    engine = scripted(script)
    engine.send("setoption name USI_Hash value 128", "isready", "getoption USI_Hash", "go depth 1")
    for size in (128, 64):
        said = f"^info string no memory for a table of {size} MB: 100 MB are free; trying half of {size} MB$"
        engine.expect(said)
    engine.expect("^readyok$")
    engine.expect("^USI_Hash = 32$")
    engine.expect("^bestmove")
    assert script.made["tables"] == 1
    monkeypatch.setattr(memory, "free_megabytes", lambda: 10)  # a small table is always tried
    engine.send("setoption name USI_Hash value 64", "isready", "getoption USI_Hash", "go depth 1")
    engine.expect("^USI_Hash = 16$")
    engine.expect("^bestmove [1-9]")


def test_threads_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_megabytes", lambda: memory.RESERVE + 3 * WORKER_MEGABYTES + 1)
    engine = scripted(Script())
    engine.send("setoption name Threads value 8", "isready", "getoption Threads", "go depth 1")
    engine.expect("^info string could not start 8 threads; searching with 4$")
    engine.expect("^Threads = 4$")
    engine.expect("^bestmove")
