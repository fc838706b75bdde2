"""Work in processes and on a Dask cluster: order of results, errors, clean end."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.learn.pool_work import (
    die_at_first,
    new_counter,
    same_weights,
    slow_square,
    wait_for,
    wait_until_there,
    weights_and_contents,
)
from tests.programs import ROOT, wait_until
from usi_engine.files import KeptRows
from usi_engine.learn.command import main
from usi_engine.match.command import main as match
from usi_engine.workers import WAITING_TASKS, Processes, Work

WORK = Work(new_counter, (100,), slow_square)


class Scheduler:
    """A scheduler and its workers, which run in a folder of their own."""

    def __init__(self, folder: Path, running: ExitStack) -> None:
        self.folder, self._running = folder, running
        self._file = folder / "scheduler.json"
        self.process = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", self._file)
        wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"].removeprefix("tcp://")
        self._workers = 0

    def _start(self, kind: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *map(str, arguments)]
        log = self._running.enter_context((self.folder / "log").open("ab"))
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        started = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self._running.callback(started.wait)
        self._running.callback(started.terminate)
        return started

    def add_worker(self) -> subprocess.Popen[bytes]:
        self._workers += 1
        own = ("--nthreads", "1", "--local-directory", self.folder / f"worker{self._workers}")
        return self._start("worker", "--scheduler-file", self._file, *own)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    with ExitStack() as running:
        started = Scheduler(tmp_path_factory.mktemp("cluster"), running)
        for _ in range(2):
            started.add_worker()
        yield started


Where = tuple[int, str]  # processes and the address of a scheduler


def on_cluster(test: Any) -> Any:
    """Mark a test as slow; distributed leaves sockets open."""
    return pytest.mark.slow(pytest.mark.filterwarnings("default")(test))


WHERE = [1, 2, pytest.param(0, marks=[pytest.mark.slow, pytest.mark.filterwarnings("default")], id="cluster")]


@pytest.fixture(params=WHERE)
def where(request: pytest.FixtureRequest) -> Where:
    """Return the arguments of `results`: one process, two, or a cluster."""
    return request.param or 1, "" if request.param else request.getfixturevalue("scheduler").address


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order_however_long_each_takes(processes: int) -> None:
    found = list(WORK.results(range(12), processes))
    assert [square for square, _, _ in found] == [task * task for task in range(12)]
    assert len({process for _, process, _ in found}) <= processes
    assert (os.getpid() in {process for _, process, _ in found}) == (processes == 1)
    counts = {process: max(count for _, its, count in found if its == process) for _, process, _ in found}
    assert sum(counts.values()) == 100 * len(counts) + 12  # each process has a state of its own


def test_an_error_is_raised_in_the_place_of_its_result(where: Where) -> None:
    """One of the set-up at once."""
    results = WORK.results(range(14), *where)
    assert [next(results)[0] for _ in range(13)] == [task * task for task in range(13)]
    with pytest.raises(ValueError, match="no thirteen"):
        next(results)
    if not where[1]:
        with pytest.raises(ValueError, match="no start: -1"):
            list(Work(new_counter, (-1,), slow_square).results(range(3), *where))


def test_results_as_they_are_ready(tmp_path: Path) -> None:
    """The first task waits for a file. A task is taken when a process is free."""
    late, taken = tmp_path / "late", list[Path]()

    def tasks() -> Iterator[str]:
        for path in (late, tmp_path, tmp_path):
            taken.append(path)
            yield str(path)

    results = Work(new_counter, (0,), wait_until_there).results(tasks(), 2, in_order=False)
    assert next(results) == str(tmp_path)
    assert len(taken) == 2
    assert next(results) == str(tmp_path)
    late.touch()
    assert list(results) == [str(late)]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("where", WHERE[1:], indirect=True)
def test_the_task_of_a_killed_process_is_done_again(tmp_path: Path, where: Where, in_order: bool) -> None:
    """Twice; then it is an error of one line."""
    tasks = [(str(tmp_path / str(number)), 2 if number == 5 else 0) for number in range(20)]
    work = Work(new_counter, (0,), die_at_first)
    found = list(work.results(tasks, *where, in_order=in_order))
    assert (found if in_order else sorted(found)) == (list if in_order else sorted)(file for file, _ in tasks)
    with pytest.raises(ChildProcessError, match="a worker process was killed 3 times in one task"):
        list(work.results([(str(tmp_path / "21"), 9)], *where, in_order=in_order))
    assert [(tmp_path / name).stat().st_size for name in ("5", "21")] == [3, 3]


def test_tasks_are_taken_only_a_little_in_advance() -> None:
    taken = []

    def endless() -> Iterator[int]:
        for number in itertools.count(20):
            taken.append(number)
            yield number

    results = WORK.results(endless(), 2)
    for _ in range(5):
        next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(taken) <= 5 + 2 * WAITING_TASKS + 1


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    parent = subprocess.Popen([sys.executable, "-m", "tests.learn.pool_work", *map(str, files)])
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not any(is_running(int(file.read_text())) for file in files))


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_processes_end_with_tasks_that_are_not_wanted(tmp_path: Path) -> None:
    """Also if one was killed, as by Ctrl-C in a terminal."""
    files = [tmp_path / "one", tmp_path / "two"]
    processes = Processes(Work(new_counter, (0,), wait_for), 2)
    for file in files:
        processes.submit(str(file))
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    os.kill(int(files[0].read_text()), signal.SIGKILL)
    processes.close()
    assert not any(is_running(int(file.read_text())) for file in files)


def is_running(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


# ---- a Dask cluster ----


@on_cluster
def test_games_are_those_of_one_process(scheduler: Scheduler, few_games: Path, tmp_path: Path) -> None:
    values = tmp_path / "values.txt"
    values.write_text("P 150\n")
    common = ["--nodes", "40", "--weights", str(values)]
    for command in (
        ["selfplay", "--games", "6", "--out", "OUT.games", *common, "material"],
        ["rescore", str(few_games), "--out", "OUT.tsv", *common],
        ["off-game", str(few_games), "--positions", "4", "--out", "OUT.tsv", *common],
    ):
        outs: list[bytes] = []
        for where in (["--threads", "1"], ["--scheduler", scheduler.address]):
            out = tmp_path / f"{command[0]}{len(outs)}"
            words = [word.replace("OUT", str(out)) for word in command]
            assert main([*words, *where]) == 0
            outs.append(next(tmp_path.glob(f"{out.name}.*")).read_bytes())
        assert outs[0] == outs[1] != b""


@on_cluster
def test_matches_and_tuning(scheduler: Scheduler, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Games are those of one process."""
    common = ["--nodes", "300", "--option", "EvalFile=material", "--games", "4"]
    for name, where in (("here", ["--concurrency", "1"]), ("there", ["--scheduler", scheduler.address])):
        engines = ["A=usi_engine", "B=usi_engine", "--option", "A:FV_SCALE=20"]
        assert match([*engines, *common, *where, "--keep", str(tmp_path / name)]) == 0
    kept = [KeptRows(tmp_path / name / "games.jsonl").rows[1:] for name in ("here", "there")]
    games = [sorted((row["game"], row["points"], row["moves"]) for row in rows) for rows in kept]
    assert len(games[0]) == 4 and games[0] == games[1]
    words = ["A=usi_engine", *common, "--tune", "FV_SCALE=4", "--keep", str(tmp_path / "tune")]
    assert match([*words, "--scheduler", scheduler.address]) == 0
    assert {row["pair"] for row in KeptRows(tmp_path / "tune" / "pairs.jsonl").rows[1:]} == {0, 1}


@on_cluster
def test_work_of_a_killed_program_is_removed(scheduler: Scheduler) -> None:
    from usi_engine.cluster import PREFIX, Cluster  # noqa: PLC0415  (an extra)

    left = Cluster(scheduler.address, Work(new_counter, (0,), slow_square), 2)
    with left._client:  # it ends without `close`
        pass
    with ExitStack() as running:
        later = Cluster(scheduler.address, Work(new_counter, (0,), slow_square), 2)
        running.callback(later.close)
        names = later._client.run(lambda dask_worker: list(dask_worker.plugins))
        assert {name for found in names.values() for name in found if name.startswith(PREFIX)} == {later._work.name}


@on_cluster
def test_contents_of_weights_are_sent(scheduler: Scheduler, tmp_path: Path) -> None:
    """A worker that comes later gets them too; the options of a network go with it."""
    network = tmp_path / "nn.bin"
    network.write_bytes(b"weights")
    (tmp_path / "eval_options.txt").write_text("FV_SCALE 24")
    work = Work(weights_and_contents, (), same_weights, (str(network), "kpp"))
    ((copy, contents), packaged) = next(work.results([1], 1, scheduler.address))
    assert contents == {"nn.bin": b"weights", "eval_options.txt": b"FV_SCALE 24"}
    assert scheduler.folder in Path(copy).parents and packaged == ("kpp", {})


@on_cluster
def test_another_version_and_no_scheduler_are_errors_of_one_line(
    scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["selfplay", "--games", "1", "--out", str(tmp_path / "x.tsv"), "--weights", "material", "--scheduler"]
    monkeypatch.setattr("usi_engine.cluster.program_version", lambda: "9.9")
    monkeypatch.setattr("usi_engine.cluster.CONNECT_SECONDS", 1)
    for address, said in (
        (scheduler.address, "but this is version 9.9 of the program"),
        ("127.0.0.1:1", "--scheduler 127.0.0.1:1: "),
        ("nowhere", "--scheduler nowhere: expected HOST:PORT"),
        ("a:b:99", "--scheduler a:b:99: expected HOST:PORT"),
    ):
        assert main([*command, address]) == 2
        shown = capsys.readouterr().err
        assert said in shown and shown.count("\n") == 1


@on_cluster
def test_a_scheduler_that_ends_is_an_error_of_one_line(tmp_path: Path) -> None:
    with ExitStack() as running:
        ended = Scheduler(tmp_path, running)
        ended.add_worker()
        results = Work(new_counter, (100,), slow_square).results(range(20, 10000), 1, ended.address)
        next(results)
        ended.process.send_signal(signal.SIGKILL)
        with pytest.raises(ConnectionError, match="the connection to the scheduler is lost"):
            list(results)
