"""AsyncEngine: calls, streams, cancellation."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.scripted_engine import scripted
from usi_engine import AsyncEngine, Engine, EngineDied


def test_calls_and_streams() -> None:
    async def main() -> None:
        async with AsyncEngine(Engine("material", megabytes=1)) as engine:
            assert (await engine.analyse(Board(), depth=2)).depth == 2
            assert (await engine.play(Board(), depth=1)).move
            await engine.configure({"Threads": 2})
            await engine.new_game()
            async with engine.analysis(Board(), depth=3) as stream:
                assert [part.depth async for part in stream] == [1, 2, 3]
                assert (await stream.result()).depth == 3
            assert [part.depth async for part in engine.analysis(Board(), depth=2)] == [1, 2]
            async with engine.analysis(Board()) as stream:
                assert (await anext(stream)).depth == 1
        with pytest.raises(RuntimeError, match="closed"):
            await engine.analyse(Board(), depth=1)

    asyncio.run(main())


def test_a_cancelled_search_stops() -> None:
    async def main() -> None:
        async with AsyncEngine(Engine("material", megabytes=1)) as engine:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.analyse(Board(), time=1000), 0.1)
            assert (await engine.analyse(Board(), depth=1)).depth == 1

    asyncio.run(main())


def test_searches_stop_on_all_threads_and_if_they_are_cancelled_again_and_again() -> None:
    async def cancelled(engine: AsyncEngine) -> None:
        task = asyncio.ensure_future(engine.analyse(Board(), depth=100))
        await asyncio.sleep(0.2)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)

    async def main() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(3))
        engines = [AsyncEngine(Engine("material", megabytes=1)) for _ in range(3)]
        await asyncio.wait_for(asyncio.gather(*map(cancelled, engines)), 20)
        for engine in engines:
            assert (await engine.analyse(Board(), depth=1)).depth == 1
            engine.engine.close()

    asyncio.run(main())


def test_another_engine(tmp_path: Path) -> None:
    command = scripted(tmp_path / "log", "7g7f", "die")

    async def main() -> None:
        async with await AsyncEngine.popen(command) as engine:
            assert (await engine.play(Board(), depth=1)).move == "7g7f"
            with pytest.raises(EngineDied, match="Fake has ended"):
                await engine.play(Board(), depth=1)

    asyncio.run(main())


def test_an_engine_that_nobody_waits_for_is_closed(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(AsyncEngine.popen(scripted(log)), 0.001)
        while not log.exists() or not log.read_text(encoding="utf-8").endswith("quit\n"):
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(main(), 20))
