"""The one writer: whole lines, 7-bit ASCII, single spaces, flushed, one at a time."""

from __future__ import annotations

import threading
from typing import BinaryIO


class Writer:
    """Writes lines to a binary stream, from any thread. Once the reader has closed it, writing does nothing."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines([text])

    def lines(self, texts: list[str]) -> None:
        """Write lines with no other line between them."""
        data = "".join(text + "\n" for text in texts).encode("ascii", "backslashreplace")
        with self._lock:
            if self.closed:
                return
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True

    def info(self, text: str) -> None:
        """One `info string`, whatever line breaks and runs of spaces the text holds."""
        self.line("info string " + " ".join(text.split()))
