"""One connection to a CSA server: lines out, events in, keep-alive."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from usi_engine.csa.protocol import KEEP_ALIVE, Event, Reader, TooMuch
from usi_engine.language import _

CONNECT_SECONDS = 15.0  # also for a server to take a line
# A server that used to answer empty lines counts as gone after this many without an answer.
SILENT_KEEP_ALIVES = 3
LONGEST_LINE = 1 << 16  # bytes
CHUNK = 1 << 14
# Events that may wait for the game; then the thread stops reading, and the server has to wait.
MOST_EVENTS = 1000


@dataclass(frozen=True)
class Cut:
    """The end of a connection, closed by either side or by the network; `reason` is set if we closed it."""

    reason: str = ""


class Connection:
    """A connection whose reading thread passes it and each event to `post`; the last event is Cut.

    The receiver calls `taken` for each event. OSError; RuntimeError if no thread can start.
    """

    def __init__(
        self,
        address: tuple[str, int],
        post: Callable[[Connection, Event | Cut], None],
        keep_alive: float,
        log: Callable[[str], None],
    ) -> None:
        self._post, self._keep_alive, self._log = post, keep_alive, log
        self._free, self._closed = threading.Semaphore(MOST_EVENTS), False
        self._sent = self._heard = time.monotonic()
        self._asked = self._answers_keep_alive = False
        self._socket = socket.create_connection(address, CONNECT_SECONDS)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._thread = threading.Thread(target=self._read, daemon=True)
            self._thread.start()
        except BaseException:
            self._socket.close()
            raise

    def send(self, line: str, logged: str | None = None) -> None:
        """Send a line; the log gets `logged` instead, if given. A cut connection is reported as an event."""
        self._sent = time.monotonic()
        self._log(f"> {line if logged is None else logged}")
        try:
            self._socket.sendall(line.encode("utf-8") + b"\n")
        except OSError:  # also if the server takes nothing for CONNECT_SECONDS
            self._shut_down()

    def taken(self) -> None:
        """Count an event as handled."""
        self._free.release()

    def tick(self) -> None:
        """Keep the connection alive, or close it if the server is gone. Call this every second or so."""
        now = time.monotonic()
        if now - self._sent >= self._keep_alive:
            self._asked = True
            self.send(KEEP_ALIVE)
        if self._answers_keep_alive and now - self._heard > SILENT_KEEP_ALIVES * self._keep_alive:
            self._shut_down()

    def close(self) -> None:
        """Close the connection and wait for the reading thread."""
        self._closed = True
        self._shut_down()
        self._free.release()
        self._thread.join()
        self._socket.close()

    def _shut_down(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        reader, reason = Reader(), ""
        try:
            for line in self._lines():
                self._handle_line(reader, line)
                if self._closed:
                    break
        except OSError:  # the network
            pass
        except TooMuch as error:
            reason = str(error)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        finally:  # a client without this event would wait for ever
            self._shut_down()
            self._post(self, Cut(reason))

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines received; an unfinished one at the end too. OSError, TooMuch."""
        rest = b""
        while chunk := self._receive():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
            if len(rest) > LONGEST_LINE:
                raise TooMuch(_("the server sent a line of more than {size} bytes").format(size=LONGEST_LINE))
        if rest:
            yield rest

    def _receive(self) -> bytes:
        """Return the next bytes; empty at the end of the connection."""
        while True:
            with contextlib.suppress(TimeoutError):  # CONNECT_SECONDS is the limit for sends
                return self._socket.recv(CHUNK)

    def _handle_line(self, reader: Reader, data: bytes) -> None:
        line = data.rstrip(b"\r").decode("utf-8", "replace")
        self._heard = time.monotonic()
        if not line and self._asked:  # not one that the server sends unasked
            self._answers_keep_alive, self._asked = True, False
        self._log(f"< {line}")
        event = reader.feed(line)
        if event is not None:
            self._free.acquire()
            self._post(self, event)
