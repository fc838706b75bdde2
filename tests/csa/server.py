"""A scripted CSA server: one script for each connection."""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import threading
from collections.abc import Callable, Iterator
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
    max_moves: int = 256,
) -> str:
    """Return the offer of a game in shogi-server's words."""
    return f"""BEGIN Game_Summary
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:{game_id}
Name+:{"us" if color == "+" else "them"}
Name-:{"them" if color == "+" else "us"}
Your_Turn:{color}
Rematch_On_Draw:NO
To_Move:+
Max_Moves:{max_moves}
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
    """One connection, as its script sees it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8")
        connection.settimeout(TIMEOUT)

    def expect(self, pattern: str) -> re.Match[str]:
        """Match the whole next line that is not empty."""
        while (line := self._lines.readline()) == "\n":
            self.send("")
        match = re.fullmatch(pattern, line.rstrip("\n"))
        assert match, f"expected '{pattern}', got {line!r}"
        return match

    def send(self, *lines: str) -> None:
        self.send_bytes("".join(line + "\n" for line in lines).encode())

    def raw_line(self) -> str:
        """Return the next line with its end, empty or not."""
        return self._lines.readline()

    def send_bytes(self, data: bytes) -> None:
        self._connection.sendall(data)

    def log_in(self) -> None:
        """Accept any login."""
        name = self.expect(r"LOGIN (\S+) (\S+)")[1]
        self.send(f"LOGIN:{name} OK")

    def offer(self, game_id: str = "test+1", **conditions: Any) -> None:
        """Offer a game and start it."""
        self.send(summary(game_id, **conditions))
        self.expect(re.escape(f"AGREE {game_id}"))
        self.send(f"START:{game_id}")

    def move(self, csa: str, seconds: int = 0) -> str:
        """Echo the client's move with its time; return the comment."""
        comment = self.expect(re.escape(csa) + "(?:,'(.*))?")[1]
        self.send(f"{csa},T{seconds}")
        return str(comment or "")

    def log_out(self) -> None:
        self.expect("LOGOUT")
        self.send("LOGOUT:completed")

    @contextlib.contextmanager
    def game(self, **conditions: Any) -> Iterator[None]:
        """Log the client in, offer a game, run the block, and let the client leave."""
        self.log_in()
        self.offer(**conditions)
        yield
        self.log_out()

    def resigned(self) -> None:
        """The client resigns."""
        self.expect("%TORYO")
        self.send("%TORYO,T1", "#RESIGN", "#LOSE")

    def close(self) -> None:
        self._lines.close()
        self._connection.close()


Script = Callable[[Talk], None]
LOST = ("%TORYO", "> %TORYO,T1", "> #RESIGN", "> #LOSE")
WON = ("> %TORYO,T1", "> #RESIGN", "> #WIN")


def game(*steps: str, **conditions: Any) -> Script:
    """Return the script of a game: `> LINE` is sent, `CSA [SECONDS]` is the client's move, `%WORD` is expected."""

    def script(talk: Talk) -> None:
        with talk.game(**conditions):
            for step in steps:
                csa, _, seconds = step.partition(" ")
                if csa == ">":
                    talk.send(seconds)
                elif csa.startswith("%"):
                    talk.expect(csa)
                else:
                    talk.move(csa, int(seconds or 0))

    return script


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
