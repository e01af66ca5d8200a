"""If these fail, a slow `run` blocks health checks, requests wait without end, or a time-out is none."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.support.serving import ask, within_script

from runyard.serving import calls


class Gate:
    """A `run` that waits until it is let go, and tells what it saw."""

    def __init__(self) -> None:
        self.open, self.entered = threading.Event(), threading.Semaphore(0)
        self.threads: set[int] = set()
        self.lock, self.inside, self.most = threading.Lock(), 0, 0

    def run(self, data: str) -> Any:
        with self.lock:
            self.threads.add(threading.get_ident())
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.entered.release()
        if "wait" in data:
            self.open.wait(60)
        with self.lock:
            self.inside -= 1
        return json.loads(data)


def test_health_is_answered_while_a_call_takes_long_and_all_calls_are_in_one_thread() -> None:
    gate = Gate()
    with within_script(gate.run) as port, ThreadPoolExecutor(4) as pool:
        assert ask(port, "/score", {"quick": 1}).status == 200
        for _ in range(2):
            gate.open.clear()
            while gate.entered.acquire(blocking=False):
                pass
            held = pool.submit(ask, port, "/score", {"wait": 1})
            assert gate.entered.acquire(timeout=30)
            assert ask(port, "/").body == b"Healthy"
            second = pool.submit(ask, port, "/score", {"quick": 2})
            assert "runyard_service_calls_running" in ask(port, "/metrics").body.decode()
            assert not second.done()
            gate.open.set()
            assert held.result(30).json() == {"wait": 1}
            assert second.result(30).json() == {"quick": 2}
            for number in range(200):  # short calls: the lead goes back
                assert ask(port, "/score", {"n": number}).json() == {"n": number}
    assert len(gate.threads) == 1
    assert gate.most == 1


def test_as_many_calls_at_once_as_the_concurrency() -> None:
    gate = Gate()
    with within_script(gate.run, concurrency=3) as port, ThreadPoolExecutor(6) as pool:
        held = [pool.submit(ask, port, "/score", {"wait": number}) for number in range(5)]
        for _ in range(3):
            assert gate.entered.acquire(timeout=30)
        assert not gate.entered.acquire(timeout=0.1)
        assert ask(port, "/").status == 200
        gate.open.set()
        assert [each.result(30).json() for each in held] == [{"wait": number} for number in range(5)]
    assert gate.most == 3


def test_too_many_are_refused_at_once_and_late_ones_in_time() -> None:
    gate = Gate()
    with (
        within_script(gate.run, queue_length=1, queue_wait_ms=300) as port,
        ThreadPoolExecutor(4) as pool,
    ):
        held = pool.submit(ask, port, "/score", {"wait": 1})
        assert gate.entered.acquire(timeout=30)
        waiting = pool.submit(ask, port, "/score", {"quick": 1})
        end = time.monotonic() + 30
        while "calls_waiting" not in "".join(
            line for line in ask(port, "/metrics").body.decode().splitlines() if line.endswith("} 1")
        ):
            assert time.monotonic() < end
        full = ask(port, "/score", {"quick": 2})
        assert (full.status, full.headers["retry-after"]) == (503, "1")
        late = waiting.result(30)
        assert late.status == 503
        assert "waited" in late.json()["message"]
        gate.open.set()
        assert held.result(30).status == 200


def test_a_call_that_takes_too_long_is_ended_and_the_next_goes_on() -> None:
    ended = threading.Event()

    def run(data: str) -> int:
        if data == "for ever":
            try:
                while True:
                    time.sleep(0.005)
            finally:
                ended.set()
        return 1

    with within_script(run, scoring_timeout_ms=200) as port:
        assert ask(port, "/score", b"quick").json() == 1
        late = ask(port, "/score", b"for ever")
        assert late.status == 500
        assert "scoring_timeout_ms" in late.json()["message"]
        assert late.headers["x-ms-run-function-failed"] == "True"
        assert ended.wait(30)
        assert ask(port, "/score", b"quick").json() == 1


def test_a_worker_whose_calls_do_not_end_says_that_it_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "STUCK_SECONDS", 0.1)
    release = threading.Event()
    with within_script(lambda data: release.wait(60), scoring_timeout_ms=100) as port:
        assert ask(port, "/score", b"x").status == 500
        end = time.monotonic() + 30
        while ask(port, "/ready").status == 200:
            assert time.monotonic() < end
        refused = ask(port, "/score", b"y")
        assert (refused.status, "replaced" in refused.json()["message"]) == (503, True)
        release.set()


def test_a_client_that_is_gone_is_not_worked_for() -> None:
    gate = Gate()
    import socket

    with within_script(gate.run) as port, ThreadPoolExecutor(2) as pool:
        held = pool.submit(ask, port, "/score", {"wait": 1})
        assert gate.entered.acquire(timeout=30)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"POST /score HTTP/1.1\r\nHost: me\r\nContent-Length: 10\r\n\r\n" + b'{"gone":1}')
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            assert ask(port, "/").status == 200
        gate.open.set()
        assert held.result(30).status == 200
        assert ask(port, "/score", {"last": 1}).json() == {"last": 1}
