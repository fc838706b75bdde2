"""The places of the browser without a browser: what pages may ask for, what changes, what is refused."""

import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.engine.fake_core import Script
from tests.play.test_rules import DECLARABLE, MATE_IN_ONE, quick_opponent
from tests.positions import described_rows
from tests.programs import INTERRUPTIBLE, ROOT, wait_until
from tests.records.common import RECORDS, game_of, page_json
from usi_engine.analysis.page import read
from usi_engine.core import CoreError
from usi_engine.game import session
from usi_engine.play import analysis_place, browser
from usi_engine.play.analysis_place import LONGEST_COMMENT, MOST_LINES, AnalysisPlace
from usi_engine.play.analysis_tree import AnalysisTree
from usi_engine.play.browser import MyGames, Preferences
from usi_engine.play.browser_server import MOST_BYTES, Events, PageServer, Refused
from usi_engine.play.game import CHOICES, HANDICAPS, PersonGame, Settings
from usi_engine.play.library import Library, load
from usi_engine.play.shared_game import SharedGame
from usi_engine.records import ends
from usi_engine.records.games import parse_record
from usi_engine.records.kif import write_kif
from usi_engine.records.tree import Record
from usi_engine.rules import End
from usi_engine.usi.protocol import STARTPOS, Go

# What a new game is made of.
TERMS = {"level": 3, "side": "black", "handicap": "even", "names": ["", ""]}
TERMS |= {"minutes": [0, 0], "byoyomi": 0, "increment": 0}
JSON = {"Content-Type": "application/json"}


class Pages:
    """A server in this process, a scripted engine, and requests to them."""

    def __init__(
        self,
        start: str = STARTPOS,
        *,
        started: bool = True,
        script: Script | None = None,
        folder: Path | None = None,
        **settings: Any,
    ) -> None:
        self.opponent = quick_opponent(lambda text: None, script or Script(seconds=lambda depth: 0.0))
        game = PersonGame(Settings(**{"seconds": 0.02} | settings), Record(start))
        self.events, library = Events(), Library(folder)
        self.shared = SharedGame(game, self.opponent, self.events, library, started=started)
        self.analysis = AnalysisPlace(self.shared, library, self.events, "material")
        places = self.analysis, MyGames(library, self.events), Preferences(folder, self.events)
        site = browser.Site(self.events, self.shared, *places)
        self.server = PageServer(site.get, site.post)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.shared.start()

    def close(self) -> None:
        self.shared.close()
        self.analysis.close()
        self.events.close()
        self.server.shutdown()
        self.server.server_close()
        self.opponent.close()

    def request(
        self, name: str, body: bytes | None = None, headers: dict[str, str] | None = None, token: str | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers of the answer."""
        path = f"/{self.server.token if token is None else token}/{name}"
        with closing(HTTPConnection(self.server.hosts[0], timeout=20)) as connection:
            connection.request("GET" if body is None else "POST", path, body, headers or ({} if body is None else JSON))
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.headers)

    def act(self, action: str, **values: Any) -> str:
        """Send an action for the present position, unless `values` name another; return why it was refused."""
        state = self.shared.state()
        place = "" if "/" in action else "play/"
        data = {"line": state["line"], "ply": state["ply"]} if place else {}
        status, body, _headers = self.request(place + action, json.dumps(data | values).encode())
        assert status == 200
        return str(json.loads(body)["error"])

    def moves(self) -> list[str]:
        return [move["usi"] for move in self.shared.state()["moves"]]

    def follow(self, until: Callable[[dict[str, Any]], bool], place: str = "play") -> dict[str, Any]:
        """Follow the events until the state of a place is as wanted; return it."""
        with closing(HTTPConnection(self.server.hosts[0], timeout=20)) as connection:
            connection.request("GET", f"/{self.server.token}/events")
            lines = iter(connection.getresponse().readline, b"")
            for line in lines:
                if line == f"event: {place}\n".encode():
                    state: dict[str, Any] = json.loads(next(lines).removeprefix(b"data: "))
                    if until(state):
                        return state
        raise AssertionError("the events have ended")

    def until(self, name: str, value: Any = True) -> dict[str, Any]:
        """Wait until the state has this value; return it."""
        return self.follow(lambda state: state[name] == value)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Pages]]:
    """Pages to close at the end; a search that does not stop ends soon."""
    monkeypatch.setattr(session, "QUIT_SECONDS", 0.1)
    pages: list[Pages] = []
    yield pages
    for one in pages:
        one.close()


@pytest.fixture
def pages(opened: list[Pages]) -> Pages:
    """A game of two people that has begun."""
    opened.append(Pages(side="both"))
    return opened[0]


# ---- who may ask for what ----


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({}, None, 200),
        ({"Origin": "http://HOST"}, None, 200),
        ({}, "guess", 404),
        ({}, "", 404),
        ({"Host": "localhost.example"}, None, 403),
        ({"Host": "127.0.0.1"}, None, 403),
        ({"Origin": "http://evil.example"}, None, 403),
        ({"Origin": "null"}, None, 403),
    ],
)
def test_token_host_and_origin(pages: Pages, headers: dict[str, str], token: str | None, status: int) -> None:
    named = {name: value.replace("HOST", pages.server.hosts[0]) for name, value in headers.items()}
    for name, body in [("", None), ("play/move", b'{"line": 0, "ply": 0, "move": "7g7f"}')]:
        got, _, sent = pages.request(name, body, named | (JSON if body else {}), token)
        assert got == status
        assert sent["Cache-Control"] == "no-store" and "default-src 'none'" in sent["Content-Security-Policy"]
    assert pages.moves() == (["7g7f"] if status == 200 else [])


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{" + b" " * MOST_BYTES + b"}", JSON, 413),
        (b"{}", JSON | {"Content-Length": "9" * 30}, 413),
        (b"{}", JSON | {"Content-Length": "-1"}, 411),
        (b"not JSON", JSON, 400),
        (b"\xff", JSON, 400),
        (b"[" * MOST_BYTES, JSON, 400),
        (b"[]", JSON, 400),
    ],
)
def test_bodies(pages: Pages, body: bytes, headers: dict[str, str], status: int) -> None:
    assert pages.request("play/move", body, headers)[0] == status


@pytest.mark.parametrize(
    "name", ["../browser.py", "..%2fnn.bin", "app.html", "page/", "play", "/etc/passwd", "play/analysis.html"]
)
def test_only_its_own_pages(pages: Pages, name: str) -> None:
    assert pages.request(name)[0] == 404
    assert pages.request(name, b"{}")[0] == 404


def test_in_the_network(pages: Pages) -> None:
    """Its address is one of the server's, and is printed with a warning; other hosts are still refused."""
    pages.server.lan, said = "192.0.2.7", list[str]()
    for host, status in (("192.0.2.7", 200), ("127.0.0.1", 200), ("192.0.2.8", 403)):
        named = {"Host": f"{host}:{pages.server.server_port}"}
        assert pages.request("", headers=named | {"Origin": f"http://{named['Host']}"})[0] == status
    browser.announce(pages.server, True, said.append)
    assert "192.0.2.7" in said[1] and "not encrypted" in said[2]


def test_files_of_the_page(pages: Pages) -> None:
    for name in re.findall(r'(?:href|src)="([\w.]+\.(?:css|js))"', pages.request("")[1].decode()):
        assert pages.request(name)[0] == 200


# ---- the game ----


def test_a_move_is_answered_and_a_reload_shows_it(opened: list[Pages]) -> None:
    """The engine, at a level for people, takes its time."""
    opened.append(pages := Pages(level=3, seconds=0.3))
    begun = time.monotonic()
    assert pages.act("move", move="7g7f") == ""
    state = pages.until("ply", 2)
    assert time.monotonic() - begun > 0.25
    assert state["legal"] and not state["thinking"]
    assert page_json(pages.request("")[1].decode())["states"]["play"] == state


@pytest.mark.parametrize(("action", "values", "message"), described_rows("refused_actions.jsonl"))
def test_refused_actions_change_nothing(pages: Pages, action: str, values: dict[str, Any], message: str) -> None:
    before = pages.shared.state()
    assert message in pages.act(action, **(TERMS | values if action == "new" else values))
    assert pages.shared.state() == before


def test_the_page_offers_every_choice() -> None:
    form = read("app.html").partition('<dialog id="setup"')[0]
    offered = re.findall(r'<option value="([a-z-]+)"', form)
    assert sorted(offered) == sorted(name for names in CHOICES.values() for name in names)


def test_a_new_game(opened: list[Pages]) -> None:
    """White, the engine, begins if it gives a handicap."""
    opened.append(pages := Pages(started=False))
    assert pages.act("resign") == "no game has begun"
    assert pages.act("new", **TERMS | {"handicap": "two"}) == ""
    state = pages.until("ply", 1)
    assert state["start"] == HANDICAPS["two"]
    assert state["players"] == {"b": "Player", "w": "Komadori level 3"}


def test_moves_taken_back(pages: Pages) -> None:
    """An action of a page that has not seen it is refused, even at the same ply."""
    for move in ("7g7f", "3c3d"):
        assert pages.act("move", move=move) == ""
    seen = pages.shared.state()
    assert pages.act("take_back") == "" and pages.moves() == ["7g7f"]
    assert pages.act("move", move="8c8d") == ""
    assert "has changed" in pages.act("resign", line=seen["line"], ply=seen["ply"])
    assert pages.shared.state()["ending"] == ""


@pytest.mark.parametrize("action", ["take_back", "new"])
def test_the_engine_is_interrupted(opened: list[Pages], action: str) -> None:
    """Its answer to a position that is gone does not count; the next one does."""
    opened.append(pages := Pages(script=Script(seconds=lambda depth: 0.0, stuck=(1, 0)), seconds=60.0))
    pages.act("move", move="7g7f")
    pages.until("thinking")
    assert pages.act("move", move="2g2f") == "it is the engine's turn"
    assert pages.act(action, **TERMS if action == "new" else {}) == ""
    assert pages.moves() == []
    pages.act("move", move="2g2f")
    time.sleep(0.1)
    assert pages.moves() == ["2g2f"] and pages.shared.state()["thinking"]


def test_two_pages_show_the_same_game(pages: Pages) -> None:
    seen = list[Any]()
    other = threading.Thread(target=lambda: seen.append(pages.until("ply", 1)))
    other.start()
    assert pages.act("move", move="7g7f") == ""
    other.join(20)
    assert seen == [json.loads(json.dumps(pages.shared.state()))]


@pytest.mark.parametrize(
    ("action", "start", "ending"),
    [("resign", STARTPOS, "White wins by resignation."), ("declare", DECLARABLE, "Black wins by declaration")],
)
def test_ends_without_a_move(opened: list[Pages], action: str, start: str, ending: str) -> None:
    opened.append(pages := Pages(start))
    assert pages.shared.state()["canDeclare"] == (action == "declare")
    assert pages.act(action) == "" and pages.shared.state()["ending"].startswith(ending)
    assert pages.act(action) == "the game is over"


def test_a_hint(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("usi_engine.play.shared_game.HINT", Go(movetime=20))
    assert pages.act("hint") == ""
    state = pages.until("thinking", False)
    assert state["hint"]["usi"] in state["legal"]
    assert state["hint"]["value"].endswith(" pawns") and state["hint"]["line"][0] == state["hint"]["text"]
    assert pages.act("move", move="7g7f") == "" and pages.shared.state()["hint"] is None


def test_the_record(pages: Pages, tmp_path: Path) -> None:
    pages.act("move", move="7g7f")
    status, body, headers = pages.request("play/game.kif")
    assert status == 200 and headers["Content-Disposition"].startswith('attachment; filename="komadori-')
    path = tmp_path / "game.kif"
    path.write_bytes(body)
    assert [node.move for node in load(path).main_line] == ["7g7f"]


def test_a_finished_game_is_analysed(opened: list[Pages], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place Analyse, which has its tree, and its page when it is ready."""
    monkeypatch.setattr(analysis_place, "NODES", 100)
    opened.append(pages := Pages(MATE_IN_ONE))
    assert pages.act("move", move="G*5b") == ""
    state = pages.shared.state()
    assert "mated" in state["ending"] and state["won"]
    assert pages.request("analyse/analysis.html")[0] == 404
    assert pages.act("analyse/game") == ""
    ready = {"done": 2, "count": 2, "ready": True, "fault": ""}
    state = pages.follow(lambda state: state["whole"] == ready, "analyse")
    assert [node["usi"] for node in state["nodes"]] == [None, "G*5b"] and state["nodes"][1]["win"] == 100
    status, body, headers = pages.request("analyse/analysis.html")
    assert status == 200 and b"<html" in body and "connect-src" not in headers["Content-Security-Policy"]
    assert pages.act("move", move="5i5h") == "the game is over"


def test_every_game_is_kept(opened: list[Pages], tmp_path: Path) -> None:
    """From its first move, with its settings, its clock and its end; a new game leaves it there."""
    opened.append(pages := Pages(folder=tmp_path, side="both", minutes=(5, 3), names=("羽生", "")))
    library = Library(tmp_path)
    assert library.entries() == []
    pages.act("move", move="7g7f")
    name = library.unfinished()
    pages.act("resign")
    assert library.entries()[0]["end"] == {"winner": 0, "text": "羽生 wins by resignation."}
    again = library.game(name)
    assert (again.end, again.moves, again.settings) == (End("resignation", 0), ["7g7f"], pages.shared.game.settings)
    assert again.clock.left == pages.shared.game.clock.left and again.ended
    pages.act("take_back")
    assert library.unfinished() == name
    assert "Komadori：{".encode() not in pages.request(f"games/file.kifu?{name}")[1]
    assert pages.act("new", **TERMS) == "" and library.unfinished() == name
    (tmp_path / "games" / "other.kifu").write_text("   1 ７六歩(77)\n", "utf-8")
    assert "not a game" in pages.act("open", name="other") and len(library.entries()) == 1
    assert pages.act("open", name=name) == "" and pages.moves() == ["7g7f"]
    assert pages.act("games/delete", name=name) == "" and library.entries() == []


def test_a_game_that_cannot_be_kept_goes_on(opened: list[Pages], tmp_path: Path) -> None:
    (tmp_path / "games").write_text("a file", "utf-8")
    opened.append(pages := Pages(folder=tmp_path, side="both"))
    assert pages.act("move", move="7g7f") == "" and pages.moves() == ["7g7f"]
    assert "games" in pages.shared.state()["unsaved"]


@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ({"level": 3}, 0.7, 1.5),
        ({"level": 13}, 0.0, 0.0),
        ({"level": 3, "seconds": 0.1}, 0.1, 0.1),
        ({"level": 3, "byoyomi": 5}, 0.5, 0.5),  # a tenth of what is left
        ({"level": 3, "minutes": 10}, 0.7, 1.5),
    ],
)
def test_the_pace_of_the_engine(settings: dict[str, Any], least: float, most: float) -> None:
    assert least <= PersonGame(Settings(**settings)).pace() <= most


def test_the_clock_ends_the_game(opened: list[Pages]) -> None:
    opened.append(pages := Pages(side="both", byoyomi=0.05))
    clock = pages.shared.state()["clock"]
    assert (clock["b"], clock["byoyomi"], clock["running"]) == (0, {"b": 50, "w": 50}, "b")
    time.sleep(0.1)
    pages.shared.check()
    state = pages.shared.state()
    assert "White wins" in state["ending"]
    assert (state["clock"]["running"], state["clock"]["b"], state["clock"]["w"]) == ("", -50, 0)


def test_no_clock_runs_before_the_game(opened: list[Pages]) -> None:
    opened.append(pages := Pages(started=False, minutes=0.001 / 60))
    time.sleep(0.01)
    pages.shared.check()
    state = pages.shared.state()
    assert (state["ending"], state["clock"]["running"]) == ("", "")


def test_an_error_of_a_thread(opened: list[Pages], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the player nor a page waits for ever."""
    opened.append(pages := Pages())

    def fail(*_: object) -> None:
        raise ValueError("not a move")

    monkeypatch.setattr(pages.opponent, "_search", fail)
    pages.act("move", move="7g7f")
    with pytest.raises(CoreError, match="ValueError: not a move"):
        wait_until(pages.shared.check)
    monkeypatch.setattr(analysis_place.WholeGame, "_analysed", fail)
    changed = threading.Event()
    started = analysis_place.WholeGame(Record(STARTPOS), "material", changed.set)
    started.start()
    assert changed.wait(20) and started.fault == "ValueError: not a move"


# ---- the command ----


@pytest.mark.parametrize(
    ("kind", "chosen", "opens"),
    [
        (webbrowser.BackgroundBrowser, False, True),
        (webbrowser.GenericBrowser, False, False),  # in the terminal
        (webbrowser.GenericBrowser, True, True),
        (None, False, False),
    ],
)
def test_the_browser(monkeypatch: pytest.MonkeyPatch, kind: Any, chosen: bool, opens: bool) -> None:
    opened: queue.SimpleQueue[str] = queue.SimpleQueue()

    def get() -> Any:
        if kind is None:
            raise webbrowser.Error
        return kind("a-browser")

    monkeypatch.setattr(webbrowser, "get", get)
    monkeypatch.setattr(webbrowser.GenericBrowser, "open", lambda self, url: opened.put(url))
    monkeypatch.setattr(webbrowser.BackgroundBrowser, "open", lambda self, url: opened.put(url))
    monkeypatch.setenv("BROWSER", "a-browser") if chosen else monkeypatch.delenv("BROWSER", raising=False)
    browser.open_browser("http://127.0.0.1/")
    if opens:
        assert opened.get(timeout=20) == "http://127.0.0.1/"
    assert opened.empty()


@pytest.mark.skipif(sys.platform == "win32", reason="sends Ctrl-C as Unix does")
def test_ctrl_c_ends_it() -> None:
    """Also while a page follows; it prints how to go on."""
    words = ["--browser", "--no-open", "--eval", "material", "--level", "1", "--minutes", "10,5", "--byoyomi", "30"]
    words += ["startpos", "moves", "7g7f", "3c3d"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*INTERRUPTIBLE, "play", *words], stdout=pipe, stderr=pipe, cwd=ROOT, text=True) as started:
        assert started.stdout is not None
        address = started.stdout.readline().split()[-1]
        host, token = address.removeprefix("http://").strip("/").split("/")
        with closing(HTTPConnection(host, timeout=20)) as connection:
            connection.request("GET", f"/{token}/events")
            connection.getresponse().readline()
            started.send_signal(signal.SIGINT)
            printed, errors = started.communicate(timeout=20)
    assert (started.returncode, errors) == (130, "")
    command = "usi_engine play --browser startpos moves 7g7f 3c3d --level 1 --side black --minutes 10,5 --byoyomi 30"
    assert command in printed


# ---- the place Analyse ----

FIRST = ("7g7f", "3c3d", "2g2f")


@pytest.fixture
def place(pages: Pages) -> AnalysisPlace:
    """The start position, with piece values as evaluation."""
    return pages.analysis


def act(place: AnalysisPlace, action: str, **values: Any) -> None:
    place.posts[action]({"node": place.state()["here"], **values})


def moves(place: AnalysisPlace) -> list[str | None]:
    """The moves of all nodes in their order."""
    return [node["usi"] for node in place.state()["nodes"]]


def test_a_tree(place: AnalysisPlace) -> None:
    """A known move is walked, a new one is a variation; what is promoted replaces the end of the game."""
    act(place, "move", moves=list(FIRST))
    act(place, "go", node=0)
    act(place, "move", moves=["7g7f", "8c8d"])
    assert moves(place) == [None, *FIRST, "8c8d"]
    assert [node["main"] for node in place.state()["nodes"]] == [True, True, True, True, False]
    act(place, "promote")
    assert moves(place) == [None, "7g7f", "8c8d", "3c3d", "2g2f"]
    act(place, "load", text=write_kif(parse_record("startpos moves 7g7f 3c3d")))
    place._tree.node(2).end = ends.End("TORYO")
    act(place, "go", node=2)
    act(place, "move", moves=["2g2f"])
    assert place.state()["nodes"][-1]["main"] is False
    act(place, "promote")
    assert place.state()["nodes"][-1]["main"] is True
    act(place, "go", node=0)
    act(place, "delete", node=1)
    assert moves(place) == [None]
    act(place, "move", moves=["7g7f", "3c3d", "6g6f", "8c8d", "2h6h"])
    assert [node["why"] for node in place.state()["nodes"]][-2:] == [[], ["Opening: Fourth-file rook"]]


@pytest.mark.parametrize("action, values, message", [
    ("move", {"moves": ["7g7e"]}, "'7g7e' is not legal here"), ("move", {"moves": "7g7f"}, "not legal"),
    ("move", {"moves": [["7g7f"]]}, "not legal"), ("go", {"node": 99}, "changed in the meantime"),
    ("go", {"node": [0]}, "changed in the meantime"), ("delete", {}, "start cannot be deleted"),
    ("comment", {"text": "x" * (LONGEST_COMMENT + 1)}, "at most"), ("comment", {"text": 1}, "at most"),
    ("engine", {"lines": MOST_LINES + 1}, "lines cannot be"), ("engine", {"lines": "2"}, "lines cannot be"),
    ("load", {"text": "no record"}, "not a game record"), ("open", {"name": "../x"}, "there is no game '../x'"),
])  # fmt: skip
def test_refused_actions_change_no_tree(
    place: AnalysisPlace, action: str, values: dict[str, Any], message: str
) -> None:
    before = place.state()
    with pytest.raises(ValueError, match=message):
        act(place, action, **values)
    assert place.state() == before


def test_the_engine_follows_the_board(place: AnalysisPlace) -> None:
    """It searches only what is shown, with as many lines as are asked for."""
    act(place, "move", moves=["7g7f"])
    assert place.engine.state() == {}
    act(place, "engine", shown=True, lines=2)
    wait_until(lambda: place.engine.state().get("node") == 1 and len(place.engine.state()["lines"]) == 2)
    act(place, "go", node=0)
    wait_until(lambda: place.engine.state()["node"] == 0)
    act(place, "engine", shown=False)
    wait_until(lambda: place.engine._stream is None)


def test_the_whole_game(place: AnalysisPlace) -> None:
    """Values fill in as they are found, the page comes at the end, and files have the values."""
    game = game_of(RECORDS / "handicap.kif")
    place._tree = AnalysisTree(game)
    act(place, "whole")
    wait_until(lambda: place.state()["whole"]["ready"])
    assert all(node["win"] is not None for node in place.state()["nodes"])
    assert place.gets["analysis.html"]("").body.startswith(b"<!DOCTYPE html>")
    for kind in ("kif", "ki2", "csa", "jkf", "usi"):
        text = place.gets["file"](kind).body.decode()
        assert parse_record(text).moves == game.moves
        assert ("評価値" in text) == (kind == "kif")
    act(place, "whole", stop=True)
    with pytest.raises(Refused):
        place.gets["analysis.html"]("")
    with pytest.raises(Refused):
        place.gets["file"]("pdf")


def test_play_on(place: AnalysisPlace, pages: Pages) -> None:
    act(place, "move", moves=list(FIRST))
    act(place, "go", node=2)
    act(place, "play", level=3, side="black")
    assert (pages.moves(), pages.shared.state()["players"]["w"]) == (list(FIRST[:2]), "Komadori level 3")
