from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timezone

from runyard.server.live import Live
from runyard.store.runs.runs import StateChange

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_news_from_another_thread_wakes_the_stream() -> None:
    async def follow() -> None:
        live = Live()
        with live.subscribe("a") as news:
            change = StateChange("Running", NOW, None)
            thread = threading.Thread(target=live.state, args=("a", change))
            thread.start()
            found = await news.news(30)
            thread.join()
        assert found is not None
        assert found.states == [change]

    asyncio.run(follow())


def test_a_slow_reader_gets_only_the_latest_size() -> None:
    async def follow() -> None:
        live = Live()
        with live.subscribe("a") as news:
            for size in range(100_000):
                live.file("a", "log.txt", size)
            found = await news.news(30)
        assert found is not None
        assert found.files == {"log.txt": 99_999}
        assert not found.over

    asyncio.run(follow())


def test_a_reader_that_falls_behind_too_far_is_let_go() -> None:
    async def follow() -> None:
        live = Live()
        with live.subscribe("a") as news:
            for number in range(10_001):
                live.file("a", f"file-{number}", 1)
            found = await news.news(30)
        assert found is not None
        assert found.over

    asyncio.run(follow())


def test_other_runs_are_not_heard_and_nothing_is_left_of_a_stream() -> None:
    async def follow() -> None:
        live = Live()
        with live.subscribe("a") as news, live.subscribe("b") as other:
            live.file("b", "x", 1)
            assert await news.news(0.01) is None
            assert await other.news(30) is not None
            assert len(live) == 2
        assert len(live) == 0

    asyncio.run(follow())


def test_closing_ends_streams_that_are_open_and_those_to_come() -> None:
    async def follow() -> None:
        live = Live()
        with live.subscribe("a") as news:
            live.close()
            found = await news.news(30)
            assert found is not None
            assert found.over
        with live.subscribe("a") as late:
            found = await late.news(30)
            assert found is not None
            assert found.over

    asyncio.run(follow())


def test_it_is_known_who_is_followed() -> None:
    async def follow() -> None:
        live = Live()
        begun: list[str] = []
        live.on_subscribe = begun.append
        live.on_close = lambda: begun.append("closed")
        assert "a" not in live
        with live.subscribe("a"):
            assert "a" in live
            assert "b" not in live
        assert "a" not in live
        live.close()
        assert begun == ["a", "closed"]

    asyncio.run(follow())


def test_that_something_was_logged_is_told_once_until_it_is_read() -> None:
    async def follow() -> None:
        live = Live()
        live.metrics("nobody")
        with live.subscribe("a") as news:
            for _ in range(3):
                live.metrics("a")
            found = await news.news(30)
            assert found is not None
            assert (found.metrics, found.files, found.states) == (True, {}, [])
            assert await news.news(0.01) is None
            live.file("a", "log.txt", 1)
            found = await news.news(30)
            assert found is not None
            assert not found.metrics

    asyncio.run(follow())
