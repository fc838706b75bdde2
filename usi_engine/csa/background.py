"""Output that must not delay or end a game: a thread of its own writes it."""

import queue
import threading
import time
from collections.abc import Callable

from usi_engine.language import _

MOST_WAITING = 1000
LAST_SECONDS = 1.0


class BackgroundWriter:
    """A thread that passes lines to `write`. Lines that come while MOST_WAITING others wait are dropped and counted.

    `failed` gets the first error of `write`, or that of a thread that cannot start; then all further lines are dropped.
    """

    def __init__(
        self, write: Callable[[str], object], failed: Callable[[Exception], None] = lambda error: None
    ) -> None:
        self._write, self._when_failed, self._failed = write, failed, False
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._fail(error)

    def put(self, line: str) -> None:
        """Hand a line over without waiting."""
        try:
            if self._dropped:
                self._lines.put_nowait(_("{count} lines are missing here").format(count=self._dropped))
                self._dropped = 0
            self._lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    @property
    def hangs(self) -> bool:
        """True if the thread is still in a write."""
        return self._thread.is_alive()

    def close(self) -> bool:
        """Wait at most LAST_SECONDS for the lines so far; return False if some could not be written.

        A thread that still hangs in a write would block an orderly exit of the program.
        """
        if self._thread.ident is None:
            return False
        end = time.monotonic() + LAST_SECONDS
        try:
            self._lines.put(None, timeout=LAST_SECONDS)
        except queue.Full:
            return False
        self._thread.join(max(end - time.monotonic(), 0))
        return not self.hangs and not self._failed

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            if self._failed:
                continue
            try:
                self._write(line)
            except Exception as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._failed = True
        self._when_failed(error)
