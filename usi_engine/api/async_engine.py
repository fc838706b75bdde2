"""Engines for asyncio: the same methods as coroutines, each call on a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from usi_engine.api.results import Analysis, Limit, PlayResult, limit_of
from usi_engine.api.search_engine import OptionValues, SearchEngine
from usi_engine.api.stream import WATCH, AnalysisStream
from usi_engine.api.usi_process import UsiEngine
from usi_engine.usi.driver import USUAL_TIMEOUTS, Timeouts

if TYPE_CHECKING:
    from core_ext.board import Board

Result = TypeVar("Result")


class AsyncStream:
    """An AnalysisStream for `async with` and `async for`."""

    def __init__(self, open_stream: Callable[[], AnalysisStream]) -> None:
        self._open = open_stream

    async def __aenter__(self) -> AsyncStream:
        self._stream = self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._stream.__exit__, kind, error, trace)

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Analysis:
        part = await asyncio.to_thread(next, self._stream, None)
        if part is None:
            raise StopAsyncIteration
        return part

    async def result(self) -> Analysis:
        """Wait for the end of the search and return its result."""
        return await asyncio.to_thread(self._stream.result)


class AsyncEngine:
    """An Engine or UsiEngine for `async with`; a cancelled call stops its search. Arguments and errors are the same."""

    def __init__(self, engine: SearchEngine) -> None:
        self.engine = engine

    @classmethod
    async def popen(
        cls,
        command: str | os.PathLike[str] | Sequence[str],
        *,
        options: OptionValues | None = None,
        folder: str | os.PathLike[str] | None = None,
        timeouts: Timeouts = USUAL_TIMEOUTS,
    ) -> AsyncEngine:
        """Start another USI engine; arguments as for UsiEngine."""
        start = partial(UsiEngine, command, options=options, folder=folder, timeouts=timeouts)
        return cls(await asyncio.to_thread(start))

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.engine.close)

    async def analyse(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Sequence[str] | None = None,
    ) -> Analysis:
        """Search a position."""
        end = limit_of(limit, nodes, depth, time)
        return await self._call(lambda: self.engine.analyse(board, end, multipv=multipv, moves=moves))

    def analysis(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Sequence[str] | None = None,
    ) -> AsyncStream:
        """Return the stream of results, for `async with`."""
        end = limit_of(limit, nodes, depth, time)
        return AsyncStream(lambda: self.engine.analysis(board, end, multipv=multipv, moves=moves))

    async def play(self, board: Board, limit: Limit) -> PlayResult:
        """Choose a move."""
        return await self._call(lambda: self.engine.play(board, limit))

    async def configure(self, options: OptionValues) -> None:
        """Set options."""
        await self._call(lambda: self.engine.configure(options))

    async def new_game(self) -> None:
        """Forget earlier searches."""
        await self._call(self.engine.new_game)

    async def _call(self, function: Callable[[], Result]) -> Result:
        job = asyncio.ensure_future(asyncio.to_thread(function))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            while not job.done():
                await asyncio.to_thread(self.engine.stop)  # repeatedly, because a search that begins forgets it
                await asyncio.wait({job}, timeout=WATCH)
            job.exception()  # nobody else asks for it
            raise
