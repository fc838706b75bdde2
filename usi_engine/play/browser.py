"""`usi_engine play --browser`: serves the page until Ctrl-C. Two of its places: saved games, preferences."""

import json
import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from usi_engine.analysis.page import PAGES, read, with_data
from usi_engine.files import write_json
from usi_engine.language import _, text_of
from usi_engine.play.browser_server import Answer, Events, PageServer, Place, Refused, json_answer, lan_address
from usi_engine.play.game import EVEN, HANDICAPS
from usi_engine.play.library import Library
from usi_engine.play.shared_game import SharedGame
from usi_engine.rules import MoveError
from usi_engine.usi.protocol import START_SFEN


class MyGames(Place):
    """The list of saved games."""

    name = "games"

    def __init__(self, library: Library, events: Events) -> None:
        self._library, self._events = library, events
        self.gets = {"file.kifu": self._file}
        self.posts = {"delete": self._delete, "refresh": lambda _wanted: events.changed(self.name)}

    def state(self) -> dict[str, Any]:
        """Return the games, the latest first."""
        return {"games": self._library.entries()}

    def _file(self, query: str) -> Answer:
        return Answer(self._library.file(query), "application/octet-stream", download=f"komadori-{query}.kifu")

    def _delete(self, wanted: Mapping[str, Any]) -> None:
        self._library.delete(str(wanted.get("name", "")))
        self._events.changed(self.name)


class Preferences(Place):
    """The preferences of a user, kept for all pages and later games. Without a file they are forgotten at the end."""

    name = "preferences"
    # The values that each can have; the first is the default.
    CHOICES: Mapping[str, tuple[str | bool, ...]] = {"pieces": ("kanji", "two", "letters"), "mute": (False, True)}

    def __init__(self, folder: Path | None, events: Events) -> None:
        self._file, self._events = folder and folder / "preferences.json", events
        self._values = {name: values[0] for name, values in self.CHOICES.items()}
        self._values |= {name: value for name, value in self._read().items() if value in self.CHOICES.get(name, ())}
        self.posts = {"set": self._set}

    def state(self) -> dict[str, Any]:
        """Return all preferences."""
        return self._values

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_bytes()) if self._file else {}
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _set(self, wanted: Mapping[str, Any]) -> None:
        for name, value in wanted.items():
            if value not in self.CHOICES.get(name, ()):
                raise MoveError(_("{name} cannot be '{value}'").format(name=name, value=value))
        self._values = {**self._values, **wanted}
        self._events.changed(self.name)
        if self._file:
            write_json(self._file, self._values)


KINDS, STREAM = {".css": "text/css", ".js": "text/javascript"}, "text/event-stream"
STARTS = {EVEN: START_SFEN, **HANDICAPS}  # by the names of handicaps
CLOCK_SECONDS = 0.1  # between two looks at the clock


class Site:
    """The page, and the requests and events of its places; `first`: the place to open, if it is not Play."""

    def __init__(self, events: Events, *places: Place, first: str = "") -> None:
        self._places, self.first = places, first
        self._gets = {f"{place.name}/{name}": get for place in places for name, get in place.gets.items()}
        self._posts = {f"{place.name}/{name}": post for place in places for name, post in place.posts.items()}
        self._gets |= {"": self._page, "events": lambda _query: Answer(kind=STREAM, events=events.stream(places))}
        self._files = {path.name: path for path in PAGES.iterdir() if path.suffix in KINDS}

    def get(self, name: str, query: str) -> Answer:
        """Return the page, a file of it or of a place, or the events."""
        if name in self._files:
            return Answer(self._files[name].read_bytes(), KINDS[Path(name).suffix])
        if name not in self._gets:
            raise Refused(404, "there is no such page")
        try:
            return self._gets[name](query)
        except ValueError as error:
            raise Refused(404, str(error)) from None

    def post(self, name: str, data: Mapping[str, Any]) -> Answer:
        """Carry out an action of a place; return why it was refused, or an empty text."""
        if name not in self._posts:
            raise Refused(404, "there is no such action")
        try:
            self._posts[name](data)
        except (ValueError, OSError) as error:
            return json_answer({"error": text_of(error)})
        return json_answer({"error": ""})

    def _page(self, _query: str) -> Answer:
        states = {place.name: place.state() for place in self._places}
        return Answer(with_data(read("app.html"), {"states": states, "starts": STARTS}).encode(), "text/html")


def play(
    shared: SharedGame, site: Site, events: Events, *, show: bool, lan: bool, say: Callable[[str], None]
) -> NoReturn:
    """Serve the page until Ctrl-C; `show`: open the browser. KeyboardInterrupt, OSError, CoreError."""
    with PageServer(site.get, site.post, lan_address() if lan else "") as server:
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
        shared.start()
        try:
            announce(server, lan, say, site.first)
            if show:
                open_browser(address_of(server.urls[0], site.first))
            while True:
                shared.check()
                time.sleep(CLOCK_SECONDS)
        finally:
            shared.close()
            events.close()
            server.shutdown()
            if command := shared.game.continuation("--browser"):
                say(_("To go on: {command}").format(command=command))


def address_of(url: str, place: str) -> str:
    """Return the address of a place of the page; empty: of its first one."""
    return f"{url}#{place}" if place else url


def announce(server: PageServer, lan: bool, say: Callable[[str], None], place: str = "") -> None:
    """Say where the page is."""
    say(_("The game is at {address}").format(address=address_of(server.urls[0], place)))
    for address in server.urls[1:]:
        say(_("In this network: {address}").format(address=address))
        say(_("Warning: the connection is not encrypted, and whoever knows the address can play."))
    if lan and not server.lan:
        say(_("This machine is in no network: the page is only on this machine."))
    say(_("Ctrl-C ends the program."))


def open_browser(url: str) -> None:
    """Open the address in a graphical browser; do nothing if there is none."""
    if getattr(sys, "frozen", False) and "LD_LIBRARY_PATH" in os.environ:
        # The standalone program points it at its own libraries, which a browser must not load.
        os.environ["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH_ORIG", "")
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    # A browser in this terminal, such as lynx, is opened only if the user has chosen it.
    if type(browser) is not webbrowser.GenericBrowser or "BROWSER" in os.environ:
        threading.Thread(target=browser.open, args=(url,), name="browser", daemon=True).start()
