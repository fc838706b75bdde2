"""`usi_engine play --browser`: serves the page of the game until Ctrl-C."""

from __future__ import annotations

import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from usi_engine.analysis.page import PAGES, read, with_data
from usi_engine.language import _
from usi_engine.play.browser_server import ONE_FILE_POLICY, Answer, PageServer, Refused, json_answer
from usi_engine.play.shared_game import SharedGame
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import encoded, text_of
from usi_engine.rules import MoveError

KINDS = {".css": "text/css", ".js": "text/javascript"}
FILES = ("board.css", "page.css", "game.css", "board.js", "page.js", "game.js")
HTML = "text/html"
CLOCK_SECONDS = 0.1  # between two looks at the clock
WAIT_SECONDS = 20.0  # a page asks again after this time without a change


class GameSite:
    """The pages of a game, and `act` and `changes` for the page's script."""

    def __init__(self, shared: SharedGame) -> None:
        self._shared = shared
        self._pages: dict[str, Callable[[str], Answer]] = {
            "": self._page, "changes": self._changes, "game.kif": self._record, "analysis.html": self._analysis,
        }  # fmt: skip

    def get(self, name: str, query: str) -> Answer:
        """Return a page, a file of it, the record, or the state once it has changed."""
        if name in FILES:
            return Answer((PAGES / name).read_bytes(), KINDS[Path(name).suffix])
        if name not in self._pages:
            raise Refused(404, "there is no such page")
        return self._pages[name](query)

    def post(self, name: str, data: Mapping[str, Any]) -> Answer:
        """Carry out an action; return the new state, with an error if the action was refused."""
        if name != "act":
            raise Refused(404, "there is no such page")
        try:
            return json_answer({"state": self._shared.act(data)})
        except MoveError as error:
            return json_answer({"error": str(error), "state": self._shared.state()}, 409)

    def _page(self, _query: str) -> Answer:
        return Answer(with_data(read("game.html"), {"state": self._shared.state()}).encode(), HTML)

    def _changes(self, query: str) -> Answer:
        version = int(query) if query.isascii() and query.isdigit() and len(query) < 18 else -1
        return json_answer(self._shared.wait(version, WAIT_SECONDS))

    def _record(self, _query: str) -> Answer:
        name = time.strftime("komadori-%Y%m%d-%H%M%S.kif")
        try:
            body = encoded(Path(name), text_of(self._shared.record(), "kif"), "")
        except RecordError as error:
            raise Refused(500, str(error)) from None
        return Answer(body, "application/octet-stream", download=name)

    def _analysis(self, _query: str) -> Answer:
        page = self._shared.review_page()
        if not page:
            raise Refused(404, _("the analysis is not ready"))
        return Answer(page.encode(), HTML, policy=ONE_FILE_POLICY)


def play(shared: SharedGame, *, show: bool, say: Callable[[str], None]) -> NoReturn:
    """Serve the pages until Ctrl-C; `show`: open the browser. KeyboardInterrupt, OSError, CoreError."""
    site = GameSite(shared)
    with PageServer(site.get, site.post) as server:
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
        shared.open()
        try:
            say(_("The game is at {address}").format(address=server.url))
            say(_("Ctrl-C ends the program."))
            if show:
                open_browser(server.url)
            while True:
                shared.check()
                time.sleep(CLOCK_SECONDS)
        finally:
            shared.close()
            server.shutdown()
            if command := shared.game.continuation("--browser"):
                say(_("To go on: {command}").format(command=command))


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
