"""A web server for the page of one program, on 127.0.0.1; its address contains a secret token.

Any web page that the user visits can send requests to 127.0.0.1. So the token is random, a page of another origin is
refused, and so is a request for another host name, which may have been made to point here (DNS rebinding).

The page has places (play, analyse, my games). To add one:
1. Write a subclass of `Place` and give an object of it to `Site` in `command.py`.
2. The page sends an action by POST to NAME/ACTION, one of `posts`, and loads NAME/FILE?QUERY by GET, one of `gets`.
3. `Events.changed(NAME)` sends `state()` to all pages, as the event NAME.
4. In `data/page`, add a `<section id="NAME">` to app.html and a module with the functions of `PLACES` to app.js.
"""

import hmac
import json
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

ADDRESS = "127.0.0.1"
MOST_BYTES = 200_000  # of a request's body, which may hold a record
IDLE_SECONDS = 60  # until a silent connection is closed
ALIVE_SECONDS = 15.0  # between two signs of life of a stream of events
MERGE_SECONDS = 0.03  # changes within this time are one event
FORBIDDEN = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:"
POLICY = f"{FORBIDDEN}; script-src 'self'; style-src 'self'; connect-src 'self'"
# A page in one file contains its script and its style.
ONE_FILE_POLICY = f"{FORBIDDEN}; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Answer:
    """A body to send, or `events`: its parts as they come. `download`: the file name that the browser should use."""

    body: bytes = b""
    kind: str = "application/json"
    status: int = 200
    download: str = ""
    policy: str = POLICY
    events: Iterator[bytes] | None = None


class Refused(Exception):
    """A request that gets an HTTP status and one line of text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def json_answer(data: object, status: int = 200) -> Answer:
    """Return data as JSON."""
    return Answer(json.dumps(data, ensure_ascii=False).encode(errors="replace"), status=status)


class Place:
    """A place of the page: its files, which get the query, and its actions, which get the object that the page sends.

    Both may raise ValueError and OSError.
    """

    name = ""
    gets: Mapping[str, Callable[[str], Answer]] = {}
    posts: Mapping[str, Callable[[Mapping[str, Any]], None]] = {}

    def state(self) -> dict[str, Any]:
        """Return the data that the page shows."""
        raise NotImplementedError


class Events:
    """What has changed, for all pages that follow. Any thread may call it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._versions = dict[str, int]()  # of the places that have changed
        self._closed = False

    def changed(self, name: str) -> None:
        """Let all pages get the state of a place."""
        with self._changed:
            self._versions[name] = self._versions.get(name, 0) + 1
            self._changed.notify_all()

    def close(self) -> None:
        """End all streams."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def stream(self, places: Sequence[Place]) -> Iterator[bytes]:
        """Yield the states of all places as server-sent events, then each that changes; a slow page skips some."""
        seen = dict[str, int]()
        while not self._closed:
            with self._changed:
                now = {place.name: self._versions.get(place.name, 0) for place in places}
                if now == seen:
                    self._changed.wait(ALIVE_SECONDS)
                    now = {place.name: self._versions.get(place.name, 0) for place in places}
            news = [place for place in places if now[place.name] != seen.get(place.name)]
            states = ((place.name.encode(), json_answer(place.state()).body) for place in news)
            yield b"".join(b"event: %s\ndata: %s\n\n" % state for state in states) or b":\n\n"
            seen = now
            time.sleep(MERGE_SECONDS)


def lan_address() -> str:
    """Return the address of this machine in its network; empty if it has none. Nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # an address for documentation, RFC 5737
        return str(asked.getsockname()[0])
    return ""


class PageServer(ThreadingHTTPServer):
    """A server on a free port, on all addresses of the machine if `lan` is one of them. OSError if no port is free.

    `get` returns the page of a name, the part of the address after the token, and a query; `post` carries out what a
    page sends to a name. Both run on the thread of a connection, may wait, and may raise Refused.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False  # Windows would let another program take the port over

    def __init__(
        self, get: Callable[[str, str], Answer], post: Callable[[str, Mapping[str, Any]], Answer], lan: str = ""
    ) -> None:
        self.get, self.post, self.lan, self.token = get, post, lan, secrets.token_urlsafe(16)
        super().__init__(("0.0.0.0" if lan else ADDRESS, 0), PageHandler)

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def hosts(self) -> list[str]:
        """The only hosts that requests may name."""
        return [f"{address}:{self.server_port}" for address in (ADDRESS, self.lan) if address]

    @property
    def urls(self) -> list[str]:
        """The addresses to open: on this machine, and in its network if the server is there."""
        return [f"http://{host}/{self.token}/" for host in self.hosts]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a broken connection; print any other error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class PageHandler(BaseHTTPRequestHandler):
    """A connection of a browser."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Komadori", ""
    timeout = IDLE_SECONDS
    server: PageServer
    _policy = POLICY

    def do_GET(self) -> None:
        """Answer a GET."""
        self._reply(self.server.get)

    def do_POST(self) -> None:
        """Answer a POST."""
        self._reply(lambda name, _query: self.server.post(name, self._data()))

    def end_headers(self) -> None:
        """Add headers to every response, including http.server's own errors."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", self._policy)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _reply(self, answer_to: Callable[[str, str], Answer]) -> None:
        try:
            answer = answer_to(*self._name())
        except Refused as refused:
            self.close_connection = True  # a body may be left unread
            answer = Answer(str(refused).encode(), "text/plain", refused.status)
        self._policy = answer.policy
        self.send_response(answer.status)
        self.send_header("Content-Type", f"{answer.kind}; charset=utf-8")
        self.close_connection |= answer.events is not None
        if answer.events is None:
            self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        if answer.download:
            self.send_header("Content-Disposition", f'attachment; filename="{answer.download}"')
        self.end_headers()
        for part in answer.events or (answer.body,):
            self.wfile.write(part)

    def _name(self) -> tuple[str, str]:
        """Return the part of the address after the token, and the query."""
        host = (self.headers.get_all("Host") or [""])[0]
        if self.headers.get_all("Host") != [host] or host not in self.server.hosts:
            raise Refused(403, f"this server is {self.server.hosts[0]}")
        if self.headers.get_all("Origin", []) not in ([], [f"http://{host}"]):
            raise Refused(403, "a page of another site sent this request")
        token, slash, rest = self.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(404, "open the address that the program printed")
        name, _mark, query = rest.partition("?")
        return name, query

    def _data(self) -> Mapping[str, Any]:
        """Return the JSON object in the body."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request has no length")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise Refused(413, f"a request has at most {MOST_BYTES} bytes")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "send JSON")
        try:
            data = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        if not isinstance(data, dict):
            raise Refused(400, "the request is not a JSON object")
        return data
