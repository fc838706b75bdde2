"""A scripted CSA server: one script for each connection."""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

TIMEOUT = 20.0
START_POSITION = """P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *
P5 *  *  *  *  *  *  *  *  *
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
+"""


def summary(
    game_id: str = "test+1",
    color: str = "+",
    time: str = "Total_Time:10\nByoyomi:0\nIncrement:2",
    position: str = START_POSITION,
    limits: str = "Max_Moves:256\nDeclaration:Jishogi 1.1",
) -> str:
    """Return the offer of a game in shogi-server's words."""
    return f"""BEGIN Game_Summary
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Game_ID:{game_id}
Name+:{"us" if color == "+" else "them"}
Name-:{"them" if color == "+" else "us"}
Your_Turn:{color}
Rematch_On_Draw:NO
To_Move:+
{limits}
BEGIN Time
Time_Unit:1sec
{time}
Least_Time_Per_Move:0
END Time
BEGIN Position
{position}
END Position
END Game_Summary"""


class Talk:
    """One connection, as its script sees it. `heard` has the client's lines that are not empty."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8")
        self.heard: list[str] = []
        connection.settimeout(TIMEOUT)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)  # what no script reads is little

    def raw_line(self) -> str:
        """Return the next line with its end, empty or not."""
        return self._lines.readline()

    def hear(self) -> str:
        """Return the next line that is not empty; empty at the end of the connection."""
        with contextlib.suppress(ConnectionError):
            for line in self._lines:
                if line != "\n":
                    self.heard.append(line.rstrip("\n"))
                    return self.heard[-1]
        return ""

    def is_silent(self) -> None:
        """The client sends an empty line, by which shogi-server notices that a session is over."""
        assert self.raw_line() == "\n"

    def expect(self, pattern: str) -> re.Match[str]:
        """Match the whole next line that is not empty."""
        line = self.hear()
        match = re.fullmatch(pattern, line)
        assert match, f"expected '{pattern}', got '{line}'"
        return match

    def is_left(self) -> None:
        """Wait until the client closes the connection."""
        while self.hear():
            pass

    def send(self, *lines: str) -> None:
        self.send_bytes("".join(line + "\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> bool:
        """Send bytes; return False if the client has closed the connection."""
        with contextlib.suppress(ConnectionError):
            self._connection.sendall(data)
            return True
        return False

    def log_in(self) -> None:
        """Accept any login."""
        name = self.expect(r"LOGIN (\S+) (\S+)")[1]
        self.send(f"LOGIN:{name} OK")

    def agree(self, game_id: str = "test+1", **conditions: Any) -> None:
        """Offer a game, which the client agrees to."""
        self.send(summary(game_id, **conditions))
        self.expect(re.escape(f"AGREE {game_id}"))

    def offer(self, game_id: str = "test+1", **conditions: Any) -> None:
        """Offer a game and start it."""
        self.agree(game_id, **conditions)
        self.send(f"START:{game_id}")

    def begin(self, game_id: str = "test+1", **conditions: Any) -> None:
        """Log the client in and start a game."""
        self.log_in()
        self.offer(game_id, **conditions)

    def move(self, csa: str, seconds: int = 0) -> str:
        """Echo the client's move with its time; return the comment."""
        comment = self.expect(re.escape(csa) + "(?:,'(.*))?")[1]
        self.send(f"{csa},T{seconds}")
        return str(comment or "")

    def any_move(self) -> None:
        """Echo the client's move, whatever it is."""
        self.send(self.expect(r"([+-]\d{4}[A-Z]{2})(,'.*)?")[1] + ",T1")

    def win(self) -> None:
        """The opponent resigns."""
        self.send("%TORYO,T1", "#RESIGN", "#WIN")

    def resigned(self) -> None:
        """The client resigns."""
        self.expect("%TORYO")
        self.send("%TORYO,T1", "#RESIGN", "#LOSE")

    def log_out(self) -> None:
        self.expect("LOGOUT")
        self.send("LOGOUT:completed")

    def reset(self) -> None:
        """Close the connection without waiting for the client to read."""
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close()

    def leave(self) -> None:
        """Close the connection, after the client if it is still open."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self.is_left()

    def close(self) -> None:
        self._lines.close()
        self._connection.close()

    def play(self, *steps: Step) -> None:
        """Take steps: `> LINE` and bytes are sent, `CSA [SECONDS]` is a move of the client, methods are called by name.

        Any other text is the client's next line. A function is called with this connection.
        """
        for step in steps:
            if isinstance(step, bytes):
                self.send_bytes(step)
            elif not isinstance(step, str):
                step(self)
            elif step[:2] in (">", "> "):
                self.send(step[2:])
            elif re.match(r"[+-]\d", step):
                csa, _, seconds = step.partition(" ")
                self.move(csa, int(seconds or 0))
            elif step.isidentifier() and step.islower():
                getattr(self, step)()
            else:
                self.expect(re.escape(step))


Step = str | bytes | Callable[[Talk], object]
Script = Callable[[Talk], object]


def script(*steps: Step) -> Script:
    """Return the script of these steps."""
    return lambda talk: talk.play(*steps)


def game(*steps: Step, **conditions: Any) -> Script:
    """Return the script of a whole connection: login, an offer, these steps, logout."""

    def played(talk: Talk) -> None:
        talk.begin(**conditions)
        talk.play(*steps, "log_out")

    return played


class Server:
    """Serves one connection after another, each by its script, on a thread; `finish` raises an error of a script."""

    def __init__(self, *scripts: Script) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(TIMEOUT)
        self.port: int = self._socket.getsockname()[1]
        self._failures: queue.Queue[BaseException] = queue.Queue()
        self._thread = threading.Thread(target=self._serve, args=(scripts,), daemon=True)
        self._thread.start()

    def _serve(self, scripts: tuple[Script, ...]) -> None:
        try:
            for script in scripts:
                connection, _ = self._socket.accept()
                talk = Talk(connection)
                try:
                    script(talk)
                finally:
                    talk.close()
        except BaseException as error:
            self._failures.put(error)
        finally:
            self._socket.close()

    def finish(self) -> None:
        """Wait for the last script."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "the server still waits"
        if not self._failures.empty():
            raise self._failures.get()
