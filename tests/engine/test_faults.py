"""Full disks, concurrent starts, the longest games, free memory."""

import io
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from core_ext.board import Board
from tests.engine.conftest import ScriptedEngine
from tests.engine.fake_core import Script
from tests.engine.usi_transport import Program
from tests.positions import MOST_MOVES
from tests.programs import output_of, quickest
from usi_engine import memory
from usi_engine.evaluation.names import INTERNAL
from usi_engine.game import loop
from usi_engine.memory import free_megabytes
from usi_engine.search.threads import WORKER_MEGABYTES
from usi_engine.usi.options import usable_cores
from usi_engine.usi.protocol import Word

MOST_MEGABYTES = 1000  # resident with the most threads before they search


# ---- the cache ----

IMPORTS = """
import resource, signal, sys
from pathlib import Path
from tests.eval.test_weights import Arrays
from usi_engine.evaluation import cache
"""


KEEP = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
cache.keep(Arrays(bytes(300_000)), Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit the size of files")
def test_a_full_disk_leaves_no_cache(tmp_path: Path) -> None:
    assert output_of(IMPORTS + KEEP, str(tmp_path / "cache" / "x.unfolded")) == ""
    assert not list((tmp_path / "cache").iterdir())


AT_ONCE = """
path, content = Path(sys.argv[1]), bytes(range(256)) * 2000
for _ in range(20):
    empty = Arrays(bytes(len(content)))
    if cache.fetch(empty, path):
        assert empty.arrays == [content]
    else:
        cache.keep(Arrays(content), path)
    if sys.argv[2] == "0":
        path.unlink(missing_ok=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_four_starts_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    """One start deletes the file repeatedly; the others always read a complete one."""
    path = tmp_path / "cache" / "x.unfolded"
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: output_of(IMPORTS + AT_ONCE, str(path), str(number)), range(4)))
    assert done == [""] * 4
    assert len(list(path.parent.iterdir())) <= 1


# ---- the most threads, the longest games, the most lines ----


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes far more memory")
def test_512_threads() -> None:
    """The engine starts eight for each core: it is ready soon, without 8 GB of memory, and answers `stop` at once."""
    engine = Program(evaluation=INTERNAL)
    engine.send("setoption name Threads value 512", "setoption name USI_Hash value 16", "isready")
    begun = time.monotonic()
    engine.expect("^readyok$", timeout=30)
    assert time.monotonic() - begun < 15  # 2 s on two idle cores
    assert engine.megabytes() < MOST_MEGABYTES
    most = min(8 * usable_cores(), 512)
    said = f"info string 512 threads are too many for {usable_cores()} cores; searching with {most}"
    assert (said in engine.seen) == (most < 512)
    assert quickest(lambda: seconds_to_stop(engine), 0.3, tries=5) < 0.3
    engine.ask("getoption Threads", answer=f"^Threads = {most}$")
    engine.close()


def seconds_to_stop(engine: Program) -> float:
    engine.send("position startpos", "go infinite")
    engine.silent("^bestmove", 0.5)
    begun = time.monotonic()
    engine.send("stop")
    engine.expect("^bestmove", timeout=60)
    return time.monotonic() - begun


def test_games_of_1000_and_5000_moves(program: Program) -> None:
    rng, board = random.Random(13), Board()  # the first seed whose random game is so long
    for _ in range(1000):
        board.push(rng.choice(board.legal_moves()))
    moves = board.moves()
    for plies in range(0, 1001, 250):
        program.ask(f"position startpos moves {' '.join(moves[:plies])}", "go nodes 300")
    shuffle = " ".join(["2h1h", "8b9b", "1h2h", "9b8b"] * 1250)
    program.ask(f"position startpos moves {shuffle}", "go byoyomi 100", "go mate 100", "eval", answer="^bestmove [1-9]")
    program.expect("^checkmate")
    program.expect("^total ")


def test_a_line_for_each_of_593_moves(program: Program) -> None:
    """In the position with the most legal moves, each line begins with another move."""
    program.send("setoption name MultiPV value 593", "setoption name GenerateAllLegalMoves value true")
    program.send(f"position sfen {MOST_MOVES}", "go depth 2")
    program.expect("^bestmove", timeout=60)
    last = [line for line in program.seen if " multipv " in line][-593:]
    assert [int(line.split(" multipv ")[1].split()[0]) for line in last] == list(range(593, 0, -1))
    assert len({line.split(" pv ")[1].split()[0] for line in last}) == 593


def test_an_error_of_the_reader_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the program would wait for a command for ever."""

    def fail(line: str) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(loop, "parse", fail)
    posted = list[object]()
    with pytest.raises(RecursionError):
        loop.read(io.BytesIO(b"usi\n"), SimpleNamespace(post=posted.append))  # type: ignore[arg-type]
    assert posted == [Word.QUIT]


# ---- free memory by /proc and cgroups, and the tables that fit into it ----

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the allocation")

MB = 1 << 20


def free(folder: Path, files: dict[str, str]) -> int | None:
    """Write the files into the folder; return the free megabytes by them."""
    meminfo = "MemTotal: 8192000 kB\nMemFree: 1 kB\nMemAvailable: 4096000 kB\n"
    for name, text in {"proc/meminfo": meminfo, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return free_megabytes(folder / "proc", folder / "cgroup")


def cgroup(folder: str, limit: str) -> dict[str, str]:
    """Return the files of a cgroup v2 with a limit in MB; 200 MB are in use, 30 of them by files."""
    bytes_of = limit if limit == "max" else str(int(limit) * MB)
    stat = f"anon 1\nfile 2\ninactive_file {20 * MB}\nactive_file {10 * MB}\n"
    texts = {"memory.max": f"{bytes_of}\n", "memory.current": f"{200 * MB}\n", "memory.stat": stat}
    return {f"cgroup/{folder}/{name}": text for name, text in texts.items()}


VERSION_1 = {
    "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/ab\n0::/\n",
    "cgroup/memory/docker/ab/memory.limit_in_bytes": str(500 * MB),
    "cgroup/memory/docker/ab/memory.usage_in_bytes": str(100 * MB),
    "cgroup/memory/docker/ab/memory.stat": f"total_inactive_file {20 * MB}\ntotal_active_file {30 * MB}\n",
}


@LINUX
@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({}, 4000),
        (VERSION_1, 450),
        # One container in another: the tightest limit counts; file pages in use can be freed.
        *(({"proc/self/cgroup": "0::/outer/inner\n"} | cgroup("outer", outer) | cgroup("outer/inner", inner), left)
          for inner, outer, left in (("max", "max", 4000), ("1024", "max", 854), ("2048", "1024", 854),
                                     ("100", "1024", 0), ("9000", "9000", 4000))),
        # Files that cannot be read are skipped.
        *(({"proc/self/cgroup": text}, 4000) for text in ("0::/\n", "", "4:memory\n", "0::/../..\n", "nonsense\n")),
    ],
)  # fmt: skip
def test_free_memory(tmp_path: Path, files: dict[str, str], left: int) -> None:
    assert free(tmp_path, files) == left
    assert free_megabytes(tmp_path / "none", tmp_path / "none") is None and (free_megabytes() or 0) > 0


@LINUX
def test_a_table_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried, because Linux would kill the engine while it fills the table."""
    monkeypatch.setattr(memory, "free_megabytes", lambda: 100)
    script = Script()
    engine = scripted(script)
    engine.send("setoption name USI_Hash value 128", "isready", "getoption USI_Hash", "go depth 1")
    for size in (128, 64):
        engine.expect(f"^info string no memory for a table of {size} MB: 100 MB are free; trying half of {size} MB$")
    for answer in ("^readyok$", "^USI_Hash = 32$", "^bestmove"):
        engine.expect(answer)
    assert script.made["tables"] == 1
    monkeypatch.setattr(memory, "free_megabytes", lambda: 10)  # a small table is always tried
    engine.send("setoption name USI_Hash value 64", "isready", "getoption USI_Hash", "go depth 1")
    engine.expect("^USI_Hash = 16$")
    engine.expect("^bestmove [1-9]")


@LINUX
def test_threads_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_megabytes", lambda: memory.RESERVE + 3 * WORKER_MEGABYTES + 1)
    engine = scripted(Script())
    engine.send("setoption name Threads value 8", "isready", "getoption Threads", "go depth 1")
    engine.expect("^info string could not start 8 threads; searching with 4$")
    engine.expect("^Threads = 4$")
    engine.expect("^bestmove")
