"""The resources of a search: core, TT, workers, evaluation, book, mate solver, as the options name them."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.book.entry import BookError
from usi_engine.core import Core, Evaluation, MateSolver, StopToken, load_core
from usi_engine.evaluation.load import (
    OPTIONS_FILE,
    advised_scale,
    eval_options,
    evaluation_title,
    file_stamp,
    load_evaluation,
    named_network,
)
from usi_engine.evaluation.names import INTERNAL, MATERIAL, NETWORK_FILE, WeightsError
from usi_engine.language import _, text_of
from usi_engine.memory import check_free
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.options import Options, usable_cores

T = TypeVar("T")

# Value of BookFile for no book, as in YaneuraOu.
NO_BOOK = "no_book"
ROOT_SOLVER_MEGABYTES = 16
SKILL_MEGABYTES = 4
# More threads would search little and wait long for each other: 512 on two cores answered `stop` after seconds.
MOST_THREADS_PER_CORE = 8
# Memory left free for the rest of the game when TT and workers are allocated.
RESERVE_MEGABYTES = 32


class Resources:
    """The resources that the options name, reloaded when options change. One thread at a time may use them.

    `tell` gets a sentence about whatever cannot be had and what is used instead; if the resources are `strict`, the
    error is raised instead: WeightsError, BookError, MemoryError. `given`: an evaluation that is used instead of that
    of the options.
    """

    def __init__(
        self,
        options: Options,
        tell: Callable[[str], None],
        load: Callable[[], Core] = load_core,
        *,
        strict: bool = False,
        given: Evaluation | None = None,
    ) -> None:
        self.options, self.given = options, given
        self.tell = tell
        self._load_core = load
        self._strict = strict
        self._pool: ThreadPool | None = None
        self._skill_pool: ThreadPool | None = None
        self._root_solver: MateSolver | None = None
        self._root_solver_tried = False
        self._book: BookPlayer | None = None
        self._book_path = ""
        self._weights: Evaluation | None = None
        self._weights_key: object = (MATERIAL, 0)
        self._weights_stamp: tuple[int, int] | None = None
        self._advised_by: str | None = None  # the evaluation whose eval_options.txt was read
        self._advised_scale = 0  # for an evaluation that FV_SCALE does not change
        self._weights_failed = self._book_failed = False
        self.random = random.Random()
        self.game_seed = self.random.getrandbits(64)

    @cached_property
    def core(self) -> Core:
        """The core, imported at the first use. CoreError if it cannot run."""
        return self._load_core()

    @cached_property
    def stop(self) -> StopToken:
        """The stop token of every search."""
        return self.core.stop_token()

    @property
    def pool(self) -> ThreadPool:
        """The thread pool of the last load."""
        if self._pool is None:
            self._load_pool(self.options.number("USI_Hash"))
        assert self._pool is not None
        return self._pool

    @property
    def skill_pool(self) -> ThreadPool:
        """A pool of one thread with a small TT of its own, for levels below full strength. MemoryError."""
        self._load_weights()
        if self._skill_pool is None:
            self._skill_pool = ThreadPool(self.core, self.stop, SKILL_MEGABYTES, 1, self._weights)
        return self._skill_pool

    @property
    def root_solver(self) -> MateSolver | None:
        """A solver with a small table, for the root before a search; None if there is no memory for it."""
        if not self._root_solver_tried:
            self._root_solver_tried = True
            try:
                self._root_solver = self.core.mate_solver(ROOT_SOLVER_MEGABYTES, self.stop, True)
            except MemoryError as error:
                self._refuse(error, "playing without it")
        return self._root_solver

    @property
    def book(self) -> BookPlayer | None:
        """The book; None if there is none."""
        name = self.options.text("BookFile")
        path = "" if name == NO_BOOK else name
        if path != self._book_path:
            self._book, self._book_path = None, path
            try:
                self._book = BookPlayer(open_book(path), self.tell) if path else None
            except BookError as error:
                self._book_failed = True
                self._refuse(error, "playing without a book")
        return self._book

    def load(self) -> None:
        """Load what the options name; cheap if nothing changed. CoreError, MemoryError.

        If TT or threads do not fit, they are reduced, and the options are set to the new values.
        """
        self._load_weights()
        self._load_with(self.options.number("USI_Hash"))

    def load_in_play(self) -> None:
        """Load, but keep the size of the TT: while a clock runs there is no time to allocate another."""
        self._load_with(self._pool.table.megabytes if self._pool else self.options.number("USI_Hash"))

    def recheck_files(self) -> None:
        """Let the next load read eval_options.txt again, an evaluation whose file changed, and what was refused."""
        self._advised_by = None
        if self._weights_failed or self._weights_stamp != file_stamp(self._evaluation_name()):
            self._weights_failed, self._weights_key = False, None
        if self._book_failed:
            self._book_failed, self._book_path = False, ""

    def mate_solver(self) -> MateSolver:
        """Return a new mate solver for `Threads` with a table of `USI_Hash`, halved until it fits. MemoryError."""

        def allocate(megabytes: int) -> MateSolver:
            check_free(megabytes)
            return self.core.mate_solver(megabytes, self.stop, threads=self.options.number("Threads"))

        return self._allocate_halving(self.options.number("USI_Hash"), allocate)

    def new_game(self) -> None:
        """Clear TT and histories; draw another seed for the errors of a level."""
        self.game_seed = self.random.getrandbits(64)
        if self._pool is not None:
            self._pool.new_game()
        if self._root_solver is not None and self._root_solver.nodes:
            self._root_solver.clear()

    def wait_for_helpers(self) -> None:
        """Wait until the helper threads of the last search have stopped."""
        if self._pool is not None:
            self._pool.join_helpers()

    @property
    def weights(self) -> Evaluation | None:
        """The loaded evaluation, None for material."""
        self._load_weights()
        return self._weights

    @property
    def evaluation_title(self) -> str:
        """Title of the evaluation that the options name, for `id name`; nothing is loaded."""
        return evaluation_title(self._evaluation_name())

    def _load_with(self, megabytes: int) -> None:
        """Load everything, with a TT of this size."""
        self._load_weights()
        _ = self.book, self.root_solver  # loaded now, before a clock runs
        self._load_pool(megabytes)

    def _load_weights(self) -> None:
        """Load the evaluation if it changed, else the package's network, else none. Drops the thread pools."""
        if self.given is not None:
            if self._weights is not self.given:
                self._pool = self._skill_pool = None
                self._weights = self._weights_key = self.given
            return
        self.read_eval_options()
        key = self._evaluation_name(), self._advised_scale and (self.options.number("FV_SCALE") or self._advised_scale)
        if key == self._weights_key:
            return
        self._load_core()  # CoreError instead of an ImportError of the evaluation
        self._pool = self._skill_pool = None
        self._weights, self._weights_key, self._weights_stamp = None, key, file_stamp(key[0])
        names = list(dict.fromkeys((key[0], INTERNAL)))
        for name, instead in zip(names, (*names[1:], MATERIAL), strict=True):
            try:
                self._weights = load_evaluation(name, key[1])
                return
            except (WeightsError, MemoryError) as error:
                self._weights_failed = True
                self.options.advise([])  # takes back what its author advises
                self._refuse(error, _("playing with EvalFile {name}").format(name=instead))

    def _refuse(self, error: Exception, instead: str) -> None:
        """Say that something cannot be had and what is used instead; strict resources raise the error."""
        if self._strict:
            raise error
        self.tell(f"{text_of(error)}; {instead}")

    def read_eval_options(self) -> None:
        """Set the options that the evaluation's eval_options.txt advises, once per evaluation."""
        name = self._evaluation_name()
        if name == self._advised_by:
            return
        self._advised_by = name
        lines, told = list[str](), list[str]()
        try:
            lines = eval_options(name)
        except WeightsError as error:
            told = [str(error)]
        self._advised_scale = advised_scale(lines) if named_network(name) else 0
        told += self.options.advise(lines)
        for sentence in told:
            self.tell(f"{OPTIONS_FILE}: {sentence}")

    def _evaluation_name(self) -> str:
        """Return EvalFile, or the network in EvalDir if only that is set."""
        name, folder = self.options.text("EvalFile") or INTERNAL, self.options.text("EvalDir")
        if not folder or name != INTERNAL:
            return name
        return folder if Path(folder).is_file() else str(Path(folder) / NETWORK_FILE)

    def _load_pool(self, megabytes: int) -> None:
        self._load_weights()
        threads = self._limited_threads()
        with reserve(RESERVE_MEGABYTES):
            if self._pool is None or self._pool.table.megabytes != megabytes:
                self._pool = None  # frees its memory before the next is allocated
                self._pool = self._allocate_halving(
                    megabytes, lambda size: ThreadPool(self.core, self.stop, size, threads, self._weights)
                )
                if self._pool.table.megabytes < megabytes:
                    self.options.set("USI_Hash", str(self._pool.table.megabytes))
            else:
                self._pool.resize(threads)
        started = len(self._pool.workers)
        if started < threads:
            self.options.set("Threads", str(started))
            self.tell(f"could not start {threads} threads; searching with {started}")

    def _limited_threads(self) -> int:
        """Return `Threads`, after lowering it if it is too much for the cores."""
        threads, cores = self.options.number("Threads"), usable_cores()
        most = MOST_THREADS_PER_CORE * cores
        if threads > most:
            self.options.set("Threads", str(most))
            self.tell(f"{threads} threads are too many for {cores} cores; searching with {most}")
        return min(threads, most)

    def _allocate_halving(self, megabytes: int, allocate: Callable[[int], T]) -> T:
        """Allocate this size, or half of it, and so on. MemoryError if even 1 MB does not fit."""
        while True:
            try:
                return allocate(megabytes)
            except MemoryError as error:
                if megabytes == 1:
                    raise
                self._refuse(error, f"trying half of {megabytes} MB")
                megabytes //= 2


@contextmanager
def reserve(megabytes: int) -> Iterator[None]:
    """Keep this much memory allocated during the block, if it can be allocated."""
    try:
        kept = bytes(megabytes << 20)  # allocated, but not written to
    except MemoryError:
        kept = b""
    yield
    del kept
