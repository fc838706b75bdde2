"""The one writer to standard output: whole lines, 7-bit ASCII, single spaces, flushed, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

# Characters of an info string; what is quoted may be of any length.
LONGEST_INFO = 1000
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def escaped(text: str) -> str:
    """The text in printable 7-bit ASCII."""
    return text.encode("ascii", "backslashreplace").decode("ascii").translate(CONTROLS)


class Writer:
    """Writes lines to a binary stream, from any thread.

    When the reader has closed it, `when_closed` is called, once, and writing does nothing from then on.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False
        self.when_closed: Callable[[], None] = lambda: None

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines([text])

    def lines(self, texts: list[str]) -> None:
        """Write lines with no other line between them."""
        data = "".join(escaped(text) + "\n" for text in texts).encode("ascii")
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True
                self.when_closed()

    def info(self, text: str) -> None:
        """One `info string`; line breaks and runs of spaces in the text become single spaces, a long text is cut."""
        text = escaped(" ".join(text.split()))
        self.line("info string " + (text if len(text) <= LONGEST_INFO else f"{text[:LONGEST_INFO].rstrip()} ..."))


@contextmanager
def repeated(action: Callable[[], None], seconds: float) -> Iterator[None]:
    """Within the block: call `action` on a thread of its own, each time after so many seconds; never if that thread
    cannot be started.
    """
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, name="repeated", daemon=True)
    with suppress(RuntimeError):
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()
