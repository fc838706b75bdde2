"""Engines for asyncio: the same methods as coroutines, each call on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from usi_engine.api.search_engine import AnalysisStream, SearchEngine
from usi_engine.api.usi_process import UsiEngine
from usi_engine.search.results import Analysis
from usi_engine.waiting import WATCH_SECONDS

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class AsyncStream:
    """An AnalysisStream for `async with` and `async for`; the search begins with either."""

    def __init__(self, open_stream: Callable[[], AnalysisStream]) -> None:
        self._open = open_stream

    @cached_property
    def _stream(self) -> AnalysisStream:
        return self._open()

    async def __aenter__(self) -> AsyncStream:
        self._stream.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await asyncio.to_thread(self._stream.__exit__, *error)

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


def starter(kind: Callable[Arguments, SearchEngine]) -> Callable[Arguments, Coroutine[Any, Any, AsyncEngine]]:
    """Return the coroutine that makes an engine of this kind on a thread."""

    @wraps(kind)
    async def start(*arguments: Arguments.args, **named: Arguments.kwargs) -> AsyncEngine:
        thread = ThreadPoolExecutor(1)
        made = thread.submit(kind, *arguments, **named)
        thread.shutdown(wait=False)
        try:
            return AsyncEngine(await asyncio.shield(asyncio.wrap_future(made)))
        except asyncio.CancelledError:
            made.add_done_callback(close_unused)
            raise

    return start


def close_unused(made: Future[SearchEngine]) -> None:
    """End an engine for which nobody waits any more."""
    if made.exception() is None:
        made.result().close()


def coroutine(
    method: Callable[Concatenate[SearchEngine, Arguments], Result],
) -> Callable[Concatenate[AsyncEngine, Arguments], Coroutine[Any, Any, Result]]:
    """Return the coroutine that calls this method on a thread; it stops the search if it is cancelled."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        function = getattr(self.engine, method.__name__)
        job = asyncio.ensure_future(asyncio.to_thread(function, *arguments, **named))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            while not job.done():
                self.engine.stop()  # repeatedly, because a search that begins forgets it; all threads may be busy
                with suppress(asyncio.CancelledError):  # cancelled again
                    await asyncio.wait({job}, timeout=WATCH_SECONDS)
            job.exception()  # nobody else asks for it
            raise

    return call


def async_stream(
    method: Callable[Concatenate[SearchEngine, Arguments], AnalysisStream],
) -> Callable[Concatenate[AsyncEngine, Arguments], AsyncStream]:
    """Return the method that opens the stream of this one in `async with`."""

    @wraps(method)
    def stream(self: AsyncEngine, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> AsyncStream:
        return AsyncStream(lambda: method(self.engine, *arguments, **named))

    return stream


class AsyncEngine:
    """An Engine or UsiEngine for `async with`; a cancelled call stops its search. Arguments and errors are the same."""

    def __init__(self, engine: SearchEngine) -> None:
        self.engine = engine

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await asyncio.to_thread(self.engine.close)

    popen = staticmethod(starter(UsiEngine))
    analyse = coroutine(SearchEngine.analyse)
    analysis = async_stream(SearchEngine.analysis)
    play = coroutine(SearchEngine.play)
    configure = coroutine(SearchEngine.configure)
    new_game = coroutine(SearchEngine.new_game)
