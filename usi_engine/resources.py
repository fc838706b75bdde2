"""What a game needs in memory: core, table, workers, book. All is loaded here, at isready or before a go."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from usi_engine.book import Book, BookError
from usi_engine.core import MATERIAL, Core, Solver, WeightsError
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.team import Team

if TYPE_CHECKING:
    from core_ext.engine import StopToken, Weights

# YaneuraOu's users write this for none.
NO_BOOK = "no_book"
KEEPALIVE_SECONDS = 1.0
SCOUT_MEGABYTES = 16


class Resources:
    """Loaded parts, kept up to date with the options. `load` and what follows it belong to one thread at a time."""

    def __init__(self, options: Options, writer: Writer, load: Callable[[], Core]) -> None:
        self._options = options
        self._writer = writer
        self._load_core = load
        self._core: Core | None = None
        self._stop: StopToken | None = None
        self._team: Team | None = None
        self._scout: Solver | None = None
        self._book: Book | None = None
        self._book_path = ""
        self._weights: Weights | None = None
        self._weights_name = MATERIAL
        self.chance = random.Random()

    @property
    def core(self) -> Core:
        """The core, imported at the first call. CoreError where it cannot run."""
        if self._core is None:
            self._core = self._load_core()
        return self._core

    @property
    def stop(self) -> StopToken:
        """The stop token of every search."""
        if self._stop is None:
            self._stop = self.core.stop()
        return self._stop

    @property
    def scout(self) -> Solver | None:
        """A small mate solver for a glance at the root before a search; None where the core has none."""
        if self._scout is None and self.core.solver is not None:
            self._scout = self.core.solver(SCOUT_MEGABYTES, self.stop, True)
        return self._scout

    @property
    def team(self) -> Team:
        """The workers, as the options wanted them at the last load."""
        if self._team is None:
            self._load_team()
        assert self._team is not None
        return self._team

    @property
    def book(self) -> Book | None:
        """The book, where there is one and it is wanted."""
        return self._book if self._options.flag("USI_OwnBook") else None

    def load(self) -> None:
        """Bring everything into line with the options; cheap where nothing changed. CoreError as `core`."""
        self._load_team()
        self._load_book()

    def load_patiently(self) -> None:
        """`load`, with an empty line now and then so that nobody who waits loses patience."""
        done = threading.Event()
        thread = threading.Thread(target=self._keep_alive, args=(done,), name="keepalive", daemon=True)
        thread.start()
        try:
            self.load()
        finally:
            done.set()
            thread.join()

    def new_game(self) -> None:
        """Forget the last game."""
        if self._team is not None:
            self._team.new_game()

    def rest(self) -> None:
        """Wait until no thread of the last search is at work."""
        if self._team is not None:
            self._team.join_helpers()

    def _keep_alive(self, done: threading.Event) -> None:
        while not done.wait(KEEPALIVE_SECONDS):
            self._writer.line("")

    @property
    def weights(self) -> Weights | None:
        """The evaluation's weights as EvalFile wanted them at the last load; None: material."""
        self._load_weights()
        return self._weights

    def _load_weights(self) -> None:
        """Weights that cannot be loaded leave the material value, and one line says so. Workers start anew."""
        name = self._options.text("EvalFile")
        if name == self._weights_name:
            return
        self._team = None
        self._weights, self._weights_name = None, name
        try:
            self._weights = self.core.load_weights(name)
        except (WeightsError, MemoryError) as error:
            self._writer.info(f"{error}; playing with the material value")

    def _load_team(self) -> None:
        self._load_weights()
        megabytes, threads = self._options.number("USI_Hash"), self._options.number("Threads")
        if self._team is not None and self._team.table.megabytes == megabytes:
            self._team.resize(threads)
            return
        self._team = None
        self._team = self._largest_team(megabytes, threads)

    def _largest_team(self, megabytes: int, threads: int) -> Team:
        """A team with this much memory, or with half of it, and so on. MemoryError where even 1 MB is not to be had."""
        while True:
            try:
                return Team(self.core, self.stop, megabytes, threads, self._weights)
            except MemoryError as error:
                if megabytes == 1:
                    raise
                self._writer.info(f"{error or 'out of memory'}; trying half of {megabytes} MB")
                megabytes //= 2
                self._options.set("USI_Hash", str(megabytes))

    def _load_book(self) -> None:
        name = self._options.text("BookFile")
        path = "" if name == NO_BOOK else name
        if path == self._book_path:
            return
        self._book, self._book_path = None, path
        if not path:
            return
        try:
            self._book = Book(path)
        except BookError as error:
            self._writer.info(str(error))
