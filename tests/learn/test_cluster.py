"""Work on a Dask cluster: a scheduler and two workers as processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.learn.pool_work import die_at_first, new_counter, same_weights, slow_square, weights_and_contents
from tests.learn.test_pool import wait_until
from usi_engine.files import KeptRows
from usi_engine.learn.command import main
from usi_engine.match.command import main as match
from usi_engine.workers import Work

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # distributed leaves sockets open


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


def test_results_come_in_order_and_errors_in_their_place(scheduler: Scheduler) -> None:
    results = Work(new_counter, (100,), slow_square).results(range(14), 1, scheduler.address)
    assert [next(results)[0] for _ in range(13)] == [task * task for task in range(13)]
    with pytest.raises(ValueError, match="no thirteen"):
        next(results)


def test_the_task_of_a_killed_worker_is_done_again(scheduler: Scheduler, tmp_path: Path) -> None:
    tasks = [(str(tmp_path / str(number)), 2 if number == 5 else 0) for number in range(20)]
    work = Work(new_counter, (0,), die_at_first)
    assert list(work.results(tasks, 1, scheduler.address)) == [file for file, _ in tasks]
    assert (tmp_path / "5").stat().st_size == 3
    with pytest.raises(ChildProcessError, match="a worker process was killed 3 times in one task"):
        list(work.results([(str(tmp_path / "21"), 9)], 1, scheduler.address))
    assert (tmp_path / "21").stat().st_size == 3


def test_contents_of_weights_are_sent(scheduler: Scheduler, tmp_path: Path) -> None:
    """A worker that comes later gets them too; the options of a network go with it."""
    network = tmp_path / "nn.bin"
    network.write_bytes(b"weights")
    (tmp_path / "eval_options.txt").write_text("FV_SCALE 24")
    work = Work(weights_and_contents, (), same_weights, (str(network), "kpp"))
    ((copy, contents), packaged) = next(work.results([1], 1, scheduler.address))
    assert contents == {"nn.bin": b"weights", "eval_options.txt": b"FV_SCALE 24"}
    assert scheduler.folder in Path(copy).parents and packaged == ("kpp", {})


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


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_a_scheduler_that_ends_is_an_error_of_one_line(tmp_path: Path) -> None:
    with ExitStack() as running:
        ended = Scheduler(tmp_path, running)
        ended.add_worker()
        results = Work(new_counter, (100,), slow_square).results(range(20, 10000), 1, ended.address)
        next(results)
        ended.process.send_signal(signal.SIGKILL)
        with pytest.raises(ConnectionError, match="the connection to the scheduler is lost"):
            list(results)
