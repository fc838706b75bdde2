"""Work on a Dask cluster. Its workers need the same version of this program; files of weights are sent to them.

A plugin with the work and the files is registered at the scheduler, which gives it to each worker once, also to those
that come later. A worker keeps the files in its local folder while it runs.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import usi_engine
from usi_engine.evaluation.load import OPTIONS_FILE, evaluation_file
from usi_engine.evaluation.names import PACKAGED

try:
    from distributed import Client, Future, KilledWorker, WorkerPlugin, get_worker
    from distributed.comm import CommClosedError
except ImportError as error:
    raise ConnectionError(f"--scheduler needs `pip install 'komadori[cluster]'`: {error}") from None

CONNECT_SECONDS, COUNT_SECONDS = 10.0, 2.0
PREFIX = "komadori-"  # of the name of a plugin, which ends with that of its client
LOST = "the connection to the scheduler is lost"
ADDRESS = re.compile(r"([a-z]+://)?(\[[^]]+\]|[^:/]+):[0-9]{1,5}")

Files = dict[str, bytes]  # contents by name; the first is the file of weights


@cache
def program_version() -> str:
    """Return the version and a hash of the sources that every installation has."""
    found = hashlib.sha256()
    for package in ("usi_engine", "core_ext"):
        folder = Path(usi_engine.__file__).parents[1] / package
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".pxd", ".h")):
            found.update(path.relative_to(folder).as_posix().encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{usi_engine.__version__} ({found.hexdigest()[:12]})"


def files_of(weights: str) -> Files:
    """Read the files of an evaluation; none if it is part of the program. OSError, WeightsError."""
    path = evaluation_file(weights)
    if path is None or weights in PACKAGED:
        return {}
    options = path.with_name(OPTIONS_FILE)
    return {file.name: file.read_bytes() for file in (path, options) if file == path or file.is_file()}


def write_files(files: Files, folder: Path) -> str:
    """Write files that were sent into `folder`, below a name of their contents; return the path of the weights."""
    own = folder / hashlib.sha256(b"".join(files.values())).hexdigest()
    own.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (own / name).write_bytes(data)
    return str(own / next(iter(files)))


class SentWork(WorkerPlugin):  # type: ignore[misc]  # distributed has no types
    """Work with the files of its weights, as each worker gets it."""

    def __init__(self, work: Any, client: str) -> None:
        self.name = PREFIX + client
        self.version = program_version()
        self._work = work
        self._files = [files_of(weights) for weights in work.weights]

    def setup(self, worker: Any) -> None:
        """Prepare for tasks. The first one makes the state, so that an error reaches the caller."""
        self._folder = Path(worker.local_directory)
        self._state: list[Any] = []
        self._lock = threading.Lock()  # a worker may have several threads, but a state is for one

    def _new_state(self) -> Any:
        named = zip(self._work.weights, self._files, strict=True)
        weights = tuple(write_files(files, self._folder) if files else name for name, files in named)
        return replace(self._work, weights=weights).new_state()

    def do(self, task: Any) -> Any:
        with self._lock:
            if not self._state:
                self._state.append(self._new_state())
            return self._work.do(self._state[0], task)


def do_sent(name: str, version: str, task: Any) -> Any:
    """Do a task on a worker, which has the plugin of this name."""
    check_version(version, get_worker().address, program_version())
    return get_worker().plugins[name].do(task)


def check_version(ours: str, worker: str, its: str) -> None:
    if its != ours:
        raise ConnectionError(f"the worker {worker} has {its}, but this is version {ours} of the program")


class Cluster:
    """The workers of a Dask scheduler. A task whose process is killed is done again, `repeats` times."""

    def __init__(self, address: str, work: Any, repeats: int) -> None:
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are raised
        self._size, self._counted = 1, -COUNT_SECONDS
        if not ADDRESS.fullmatch(address):
            raise ConnectionError(f"--scheduler {address}: expected HOST:PORT")
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"--scheduler {address}: {error}") from None
        self._work = SentWork(work, self._client.id)
        try:
            # Dask sends lambdas as code, so that the scheduler needs no part of this program.
            self._client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", repeats))
            versions = self._client.run(lambda: import_module("usi_engine.cluster").program_version())
            for worker, version in versions.items():
                check_version(self._work.version, worker, version)
            if not versions:
                print("waiting for workers", file=sys.stderr, flush=True)
            self._remove_left_work()
            self._client.register_plugin(self._work, name=self._work.name)
        except BaseException as error:
            self._client.close()
            if isinstance(error, (ImportError, AttributeError)) or type(error) is Exception:  # no module
                raise ConnectionError(f"a worker lacks this version of the program: {error}") from None
            raise

    def _remove_left_work(self) -> None:
        """Remove the work of killed programs from the workers."""
        found = self._client.run(lambda dask_worker: list(dask_worker.plugins))
        clients = self._client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.clients))
        for name in {name for names in found.values() for name in names if name.startswith(PREFIX)}:
            if name.removeprefix(PREFIX) not in clients:
                self._client.unregister_worker_plugin(name)

    def submit(self, task: Any) -> _Sent:
        return _Sent(self._client.submit(do_sent, self._work.name, self._work.version, task, pure=False))

    def size(self) -> int:
        """Return the number of tasks that the workers do at a time, at least 1. ConnectionError."""
        if time.monotonic() >= self._counted + COUNT_SECONDS:
            try:
                self._size, self._counted = sum(self._client.nthreads().values()) or 1, time.monotonic()
            except OSError:
                raise ConnectionError(LOST) from None
        return self._size

    def close(self) -> None:
        with self._client, suppress(OSError):
            if self._client.status == "running":
                self._client.unregister_worker_plugin(self._work.name)


class _Sent:
    """A task of a worker."""

    def __init__(self, future: Future) -> None:
        self._future = future

    def done(self) -> bool:
        return bool(self._future.done())

    def result(self) -> Any:
        try:
            return self._future.result()
        except KilledWorker:
            raise BrokenExecutor from None
        except (CancelledError, CommClosedError):
            raise ConnectionError(LOST) from None
        except OSError:  # of the task, unless the connection is lost
            if self._future.client.status == "running":
                raise
            raise ConnectionError(LOST) from None
