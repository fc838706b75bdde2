"""The repository; running Python or the program as another process; measuring time on a loaded machine."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ENGINE = [sys.executable, "-m", "usi_engine"]
# Restores the handler of Ctrl-C, which a process in the background of a shell ignores.
HEED_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
# `python -m usi_engine` that obeys Ctrl-C.
INTERRUPTIBLE = [sys.executable, "-c", HEED_CTRL_C + "from usi_engine.__main__ import main; sys.exit(main())"]


def run_command(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository to its end; return its status and output."""
    usual: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "timeout": 120,
        "cwd": ROOT,
    }
    return subprocess.run(command, check=False, **usual | options)


def run_engine(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `usi_engine` with these words."""
    return run_command([*ENGINE, *words], **options)


def output_of(code: str, *words: str, **options: Any) -> str:
    """Run Python code, which must succeed and write nothing to stderr; return its output."""
    done = run_command([sys.executable, "-c", code, *words], **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def resident_megabytes(pid: int) -> int:
    """Return the memory that a process has in use; 0 on other systems than Linux."""
    if sys.platform != "linux":
        return 0
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) >> 10


def interrupted(words: list[str], until: Callable[[subprocess.Popen[str]], object]) -> tuple[int, str, str]:
    """Start `usi_engine` with these words, send Ctrl-C after `until`; return status, output after it, and errors."""
    pipe = subprocess.PIPE
    command = [*INTERRUPTIBLE, *words]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as started:
        until(started)
        assert started.poll() is None
        started.send_signal(signal.SIGINT)
        return (started.wait(20), *started.communicate())


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def quickest(measure: Callable[[], float], enough: float = 0.0, tries: int = 3) -> float:
    """Return the least of several measurements in seconds; end them after one below `enough`."""
    least = measure()
    while least >= enough and (tries := tries - 1):
        least = min(least, measure())
    return least
