"""Servers that break the protocol. The client neither hangs nor loses a record nor ends a game by itself."""

import contextlib
import time
from dataclasses import replace

import pytest

from tests.csa.conftest import ClientRunner
from tests.csa.server import START_POSITION, Step, Talk, summary
from usi_engine.csa import client as clients
from usi_engine.csa import connection as connections
from usi_engine.csa.client import SessionError
from usi_engine.records.games import load_games

SHORT = 0.3  # for the client's own limits of time
LOGIN, OFFER, START, OTHER = "LOGIN us secret", f"> {summary()}", "> START:test+1", f"> {summary('other')}"
ENDLESS = ("> BEGIN Game_Summary\n" + "Name:x\n" * 11_000, "is_left")
BYTES = [bytes([letter]) for letter in b"-3334FU,T1\r\n%TORYO,T1\n#RESIGN\n#WIN\n"]
NO_COLOR = (summary("x" * 60_000).replace("Your_Turn:+", "Your_Turn:?") + "\n").encode()


def read_nothing(talk: Talk) -> None:
    while talk.send_bytes(NO_COLOR):
        pass


# Servers that play no game: their steps.
WITHOUT_A_GAME: dict[str, tuple[Step, ...]] = {
    "closes at once": (),
    "speaks HTTP": ("> HTTP/1.1 400 Bad Request", "> Content-Type: text/html", "> ", "> <html>"),
    "answers the login with noise": (bytes(range(256)) * 8 + b"\n",),
    "is silent at the login": ("hear", "is_left"),
    "sends an endless line at the login": (b"LOGIN:" + b"x" * 100_000, "is_left"),
    "offers a summary without an end": ("log_in", *ENDLESS),
    "offers a summary of long lines": ("log_in", "> BEGIN Game_Summary", *["> " + "x" * 60_000] * 20, "is_left"),
    "refuses the game for the opponent": ("log_in", "agree", "> REJECT:test+1 by them", "> +7776FU,T1", "> #LOSE"),
    "starts a game that was not offered": ("log_in", START, "> +7776FU,T1", "> #LOSE"),
    "closes between agreement and start": ("log_in", "agree"),
    "reads nothing": ("log_in", read_nothing),
}
# Conditions that the client refuses.
REFUSED = {
    "no position": (START_POSITION, ""),
    "two kings": ("+KI+OU", "+OU+OU"),
    "19 pawns": ("P5 * ", "P5+FU"),
    "no king": ("-OU", " * "),
    "a king in check": ("P3-FU-FU-FU-FU-FU-FU", "P3-FU-FU-FU-FU+KI-FU"),
    "a unit of 4000 digits": ("1sec", "9" * 4000 + "sec"),
    "a time of 50000 digits": ("Total_Time:10", "Total_Time:" + "9" * 50_000),
}
# Beginnings of games that are played and won.
BEFORE_A_GAME: dict[str, tuple[Step, ...]] = {
    "has terminal escapes in the login name": (LOGIN, "> LOGIN:\x1b]52;c;bHM=\x07\x1b[2J\u202e OK", "agree", START),
    "accepts the login three times": (LOGIN, "> LOGIN:us OK\nLOGIN:us OK\nLOGIN:them OK", "agree", START),
    "offers a summary within a summary": (
        "log_in", "> BEGIN Game_Summary", "> Game_ID:other", "> BEGIN Time", "agree", START,
    ),
    "offers the game twice": ("log_in", "agree", OFFER, START, START),
    "offers another game before the start": (
        "log_in", "agree", OTHER, "REJECT other", "> REJECT:other by us", START,
    ),
    "says that another game was refused": ("log_in", "agree", "> REJECT:other by bob", "> START:other", START),
    "decides the game before its start": (
        "log_in", "agree", "> #RESIGN", "> #LOSE", "> -3334FU,T1", "> %TORYO,T1", START,
    ),
    "starts without the id": ("log_in", "agree", "> START:"),
    "names players with escapes and comments": (
        "log_in", OFFER.replace("them", "\x1b[2J'x\u2028%CHUDAN\x85/,N+"), "AGREE test+1", START,
    ),
    "limits the game to 10^12 moves": ("log_in", OFFER.replace(":256", ":" + "9" * 12), "AGREE test+1", START),
}  # fmt: skip
NAMES = {
    "a folder": "../../etc/passwd",
    "a device": "NUL",
    "escapes": "\x1b]0;owned\x07\x1b[2J",
    "60000 letters": "x" * 60_000,
    "Japanese letters": "対局1",
    "nothing": "",
}
# Lines after the client's first move; it wins the game all the same.
IN_A_GAME: dict[str, tuple[str | bytes, ...]] = {
    "a move twice": ("> -3334FU,T1", "> -3334FU,T1"),
    "moves of the wrong side": ("> +2726FU,T1", "> +2625FU,T1"),
    "moves of a wrong form": (
        "> -3334fu,T1", "> -3334", "> -0000FU,T1", "> -3334FU3334FU", "> +", "> -", "> %", "> #", "> 'x",
    ),
    "a huge time": ("> -3334FU,T4294968",),
    "a time of 4000 digits": ("> -3334FU,T" + "9" * 4000,),
    "a negative time": ("> -3334FU,T-5",),
    "no time": ("> -3334FU",),
    "noise": (bytes(range(128, 256)) + b"\0\n\r\n\r\r\n",),
    "a logout": ("> LOGOUT:completed", "> LOGIN:incorrect"),
    "a refusal of the game": ("> REJECT:test+1 by them",),
    "offers": (OTHER, OFFER),
    "chat without end": ("> ##[CHAT] \x1b[2J hello\n" * 5000,),
    "3000 illegal moves": ("> " + "-2288UM,T1\n" * 3000,),
    "a decision without a cause": ("> #WIN",),
    "two decisions": ("> #RESIGN", "> #WIN", "> #LOSE", "> #DRAW"),
    "the special move repeatedly": (
        "> %TORYO,T1", "> %TORYO,T" + "9" * 4000, "> %KACHI", "> %CHUDAN", "> #RESIGN",
    ),
}  # fmt: skip
# Other games, with their results.
GAMES: dict[str, tuple[str, tuple[Step, ...]]] = {
    "decides for an unknown cause": ("draw", ("any_move", "> #MOONLIGHT", "> #DRAW")),
    "names a cause and closes": ("CUT", ("any_move", "> %TORYO,T1", "> #RESIGN")),
    "closes in a line": ("CUT", ("any_move", b"-3334F")),
    "closes in a game": ("CUT", ("any_move",)),
    "resets the connection": ("CUT", ("any_move", "reset")),
    "sends an endless line": ("CUT", (b"-" * 100_000, "is_left")),
    "sends a summary without an end": ("CUT", ("any_move", *ENDLESS)),
    "stops answering": ("CUT", ("any_move", lambda talk: time.sleep(3 * SHORT), "> ", "is_left")),
    "confirms another move than was made": ("win", ("hear", "> +7776FU,T1", "> -3334FU,T1", "any_move", "win")),
    "ends in the line of the decision": ("win", ("any_move", b"%TORYO,T1\n#RESIGN\n#WIN")),
    "sends one byte at a time": (
        "win", ("any_move", *(step for one in BYTES for step in (one, lambda talk: time.sleep(0.002)))),
    ),
    "does not answer the logout": ("win", ("win", "is_left")),
}  # fmt: skip
# The client's own limits, shortened.
LIMITS = {
    "is silent at the login": "LOGIN_SECONDS",
    "reads nothing": "CONNECT_SECONDS",
    "does not answer the logout": "LOGOUT_SECONDS",
}

ROWS: dict[str, tuple[str, tuple[Step, ...]]] = {
    **{name: ("", steps) for name, steps in WITHOUT_A_GAME.items()},
    **{f"offers {name}": ("", ("log_in", OFFER.replace(*change), "REJECT test+1")) for name, change in REFUSED.items()},
    **{name: ("win", (*steps, "any_move", "win")) for name, steps in BEFORE_A_GAME.items()},
    **{f"names the game after {name}": ("win", ("log_in", f"> {summary(own)}", f"AGREE {own}", f"> START:{own}",
                                                "any_move", "win")) for name, own in NAMES.items()},
    **{f"sends {name}": ("win", ("begin", "any_move", *steps, "win")) for name, steps in IN_A_GAME.items()},
    **{name: (result, ("begin", *steps)) for name, (result, steps) in GAMES.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_hostile_server(runner: ClientRunner, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result, steps = ROWS[name]
    run, talks = None, list[Talk]()

    def behave(talk: Talk) -> None:
        talks.append(talk)
        try:
            talk.play(*steps)
        finally:
            runner.interrupt(talk)
            talk.leave()

    if name == "stops answering":
        runner.settings = replace(runner.settings, keep_alive=SHORT)
    for module in (clients, connections):
        if hasattr(module, LIMITS.get(name, "")):
            monkeypatch.setattr(module, LIMITS[name], SHORT)
    with contextlib.suppress(SessionError):
        run = runner.play(None, behave)
    files = list(runner.settings.records.glob("*"))
    games = [game for path in files for game in load_games(path)]
    assert runner.client and (runner.client.tally, len(games)) == ({result: 1} if result else {}, bool(result))
    assert [path.suffix for path in files] == [".csa"] * bool(result)
    assert (run.gameovers() if run else []) == ([{"CUT": "unknown"}.get(result, result)] if result else [])
    assert not [line for line in talks[0].heard if line.startswith("%")]  # the client never resigns or breaks off
    assert not any("not saved" in note for note in runner.notes), runner.notes
