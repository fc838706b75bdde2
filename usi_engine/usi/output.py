"""Output: USI in whole lines of UTF-8, flushed, from any thread; foreign text, safe for a terminal."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, TextIO

QUOTED = 60  # characters of a text that a message shows
LONGEST_INFO = 1000  # characters of an info string, which may quote input of any length
# Characters that act on a terminal: controls, C1 controls, separators of lines, marks of the direction of text.
ACTING = {code: f"\\x{code:02x}" for code in (*range(32), 127)} | {
    code: f"\\u{code:04x}"
    for code in (*range(128, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
}


def printable(text: str) -> str:
    """Return the text with characters that act on a terminal escaped; letters of all languages stay.

    Cut a long text first: each escape can copy all of it.
    """
    return text.translate(ACTING)


def excerpt(text: str, most: int = QUOTED) -> str:
    """Return the text as messages quote it: printable, on one line, cut to `most` characters."""
    plain = printable(" ".join(text.split())[: most + 1])
    return plain if len(plain) <= most else plain[:most] + "..."


def show(*lines: str, file: TextIO | None = None) -> None:
    """Print lines that may quote the text of a server, a file or an engine, each as `printable` returns it."""
    print(*map(printable, lines), sep="\n", file=file, flush=True)


class Writer:
    """A writer of lines to a binary stream, for any thread.

    If the reader has closed it, or it cannot be written, the writer keeps the error as `fault`, calls `when_closed`
    once and discards all later lines.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False
        self.fault: Exception | None = None
        self.when_closed: Callable[[], None] = lambda: None

    def line(self, text: str) -> None:
        self.lines([text])

    def lines(self, texts: list[str]) -> None:
        """Write lines; no other thread's line comes between them."""
        data = "".join(printable(text) + "\n" for text in texts).encode("utf-8", "backslashreplace")
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError) as error:
                self.closed, self.fault = True, error
                self.when_closed()

    def info(self, text: str) -> None:
        """Write an `info string`. Runs of white space become single spaces; a text over LONGEST_INFO is cut."""
        text = printable(" ".join(text.split())[: LONGEST_INFO + 1])
        self.line("info string " + (text if len(text) <= LONGEST_INFO else f"{text[:LONGEST_INFO].rstrip()} ..."))


@contextmanager
def repeated(action: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call `action` every `seconds` while the block runs, on another thread; never if that thread cannot start."""
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
