"""A web server for the pages of one program, on 127.0.0.1 only; its address contains a secret token.

Any web page that the user visits can send requests to 127.0.0.1. So the token is random, a page of another origin is
refused, and so is a request for another host name, which may have been made to point here (DNS rebinding).
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

ADDRESS = "127.0.0.1"
MOST_BYTES = 10_000  # of a request's body
IDLE_SECONDS = 60  # until a silent connection is closed
FORBIDDEN = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:"
POLICY = f"{FORBIDDEN}; script-src 'self'; style-src 'self'; connect-src 'self'"
# A page in one file contains its script and its style.
ONE_FILE_POLICY = f"{FORBIDDEN}; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Answer:
    """A body to send. `download`: the file name that the browser should save it as."""

    body: bytes
    kind: str = "application/json"
    status: int = 200
    download: str = ""
    policy: str = POLICY


class Refused(Exception):
    """A request that gets an HTTP status and one line of text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def json_answer(data: object, status: int = 200) -> Answer:
    """Return data as JSON."""
    return Answer(json.dumps(data, ensure_ascii=False).encode(errors="replace"), status=status)


class PageServer(ThreadingHTTPServer):
    """A server on a free port. OSError if no port is free.

    `get` returns the page of a name, the part of the address after the token, and a query; `post` carries out what a
    page sends to a name. Both run on the thread of a connection, may wait, and may raise Refused.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False  # Windows would let another program take the port over

    def __init__(self, get: Callable[[str, str], Answer], post: Callable[[str, Mapping[str, Any]], Answer]) -> None:
        self.get, self.post, self.token = get, post, secrets.token_urlsafe(16)
        super().__init__((ADDRESS, 0), PageHandler)

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def host(self) -> str:
        """The only host that requests may name."""
        return f"{ADDRESS}:{self.server_port}"

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://{self.host}/{self.token}/"

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
        self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        if answer.download:
            self.send_header("Content-Disposition", f'attachment; filename="{answer.download}"')
        self.end_headers()
        self.wfile.write(answer.body)

    def _name(self) -> tuple[str, str]:
        """Return the part of the address after the token, and the query."""
        host = self.server.host
        if self.headers.get_all("Host") != [host]:
            raise Refused(403, f"this server is {host}")
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
