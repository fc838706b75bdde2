"""One connection to a CSA server: lines out, events in, keep-alive."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from usi_engine.csa.protocol import KEEP_ALIVE, Event, Reader

CONNECT_SECONDS = 15.0
# A server that used to answer empty lines counts as gone after this many without an answer.
SILENT_KEEP_ALIVES = 3


@dataclass(frozen=True)
class Cut:
    """The end of a connection, closed by either side or by the network."""


class TrafficLog:
    """A log of each line sent or received, with its time; without a file it does nothing. Thread-safe."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file, self._lock = file, threading.Lock()

    def write(self, mark: str, line: str) -> None:
        """Write a line; `mark` is > for lines sent, < for lines received."""
        if self._file is None:
            return
        with self._lock:
            self._file.write(f"{time.strftime('%H:%M:%S')} {mark} {line}\n")
            self._file.flush()


class Connection:
    """A connection whose reading thread passes it and each event to `post`; the last event is Cut. OSError."""

    def __init__(
        self,
        address: tuple[str, int],
        post: Callable[[Connection, Event | Cut], None],
        keep_alive: float,
        log: TrafficLog,
    ) -> None:
        self._post, self._keep_alive, self._log = post, keep_alive, log
        self._socket = socket.create_connection(address, CONNECT_SECONDS)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sent = self._heard = time.monotonic()
        self._answers_keep_alive = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def send(self, line: str, logged: str | None = None) -> None:
        """Send a line; the log gets `logged` instead, if given. A cut connection is reported as an event."""
        self._sent = time.monotonic()
        self._log.write(">", line if logged is None else logged)
        with contextlib.suppress(OSError):
            self._socket.sendall(line.encode("utf-8") + b"\n")

    def tick(self) -> None:
        """Keep the connection alive, or close it if the server is gone. Call this every second or so."""
        now = time.monotonic()
        if now - self._sent >= self._keep_alive:
            self.send(KEEP_ALIVE)
        if self._answers_keep_alive and now - self._heard > SILENT_KEEP_ALIVES * self._keep_alive:
            self._shut_down()

    def close(self) -> None:
        """Close the connection and wait for the reading thread."""
        self._shut_down()
        self._thread.join()
        self._socket.close()

    def _shut_down(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        reader = Reader()
        with contextlib.suppress(OSError), self._socket.makefile("r", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._handle_line(reader, line.rstrip("\r\n"))
        self._post(self, Cut())

    def _handle_line(self, reader: Reader, line: str) -> None:
        self._heard = time.monotonic()
        self._answers_keep_alive |= not line
        self._log.write("<", line)
        event = reader.feed(line)
        if event is not None:
            self._post(self, event)
