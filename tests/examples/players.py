"""The engines of examples/ as processes that speak USI."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PLAYERS = ("show_board", "random_player", "captures_first", "alpha_beta")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
SECONDS = 120.0  # a player is killed after this time


class Player:
    """A running player. Leaving the `with` block sends `quit`; status and stderr must show no error."""

    def __init__(self, name: str, *arguments: str) -> None:
        command, pipe = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT)
        self._watchdog = threading.Timer(SECONDS, self._process.kill)
        self._watchdog.start()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _, errors = self._process.communicate("quit\n")
        self._watchdog.cancel()
        self._watchdog.join()
        assert kind is not None or (self._process.returncode, errors) == (0, "")

    def send(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(line + "\n" for line in lines)
        self._process.stdin.flush()

    def lines_to(self, word: str) -> list[str]:
        """Return the lines up to one that begins with `word`."""
        assert self._process.stdout is not None
        found = list[str]()
        for line in self._process.stdout:
            found.append(line.rstrip("\n"))
            if found[-1].split(" ")[0] == word:
                return found
        raise AssertionError(f"no {word} after {found}")

    def move(self, position: str) -> str:
        """Return the move for the arguments of `position`."""
        self.send(f"position {position}", "go btime 0 wtime 0 byoyomi 1000")
        return self.lines_to("bestmove")[-1].split()[1]
