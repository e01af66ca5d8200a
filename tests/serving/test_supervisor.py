"""If these fail, a worker that dies takes a service or its other requests with it, or an update loses requests."""

from __future__ import annotations

import http.client
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.serving import Service, script_in
from tests.support.waiting import wait_until

from runyard.contracts.services.worker import READY, WorkerStatus

SCRIPT = """
import json, os
held = []
def init():
    pass
def run(data):
    given = json.loads(data)
    if "exit" in given:
        os._exit(given["exit"])
    if "grow" in given:
        held.append(bytearray(given["grow"]))
        held[-1][:] = b"x" * given["grow"]
    return {"pid": os.getpid(), "given": given, "text": os.environ.get("TEXT")}
"""


class Load:
    """Clients that ask one request after the other, each on a connection that it keeps."""

    def __init__(self, port: int, clients: int = 4) -> None:
        self.answered, self.lost, self.pids, self._port = 0, 0, set[int](), port
        self._end, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._ask) for _ in range(clients)]

    def _ask(self) -> None:
        import json

        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._end.is_set():
            try:
                connection.request("POST", "/score", b"{}")
                response = connection.getresponse()
                told = json.loads(response.read())
                with self._lock:
                    self.answered += response.status == 200
                    self.lost += response.status != 200
                    self.pids.add(told.get("pid"))
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.lost += 1
                connection.close()
        connection.close()

    def more(self, count: int) -> None:
        wanted, end = self.answered + count, time.monotonic() + 60
        while self.answered < wanted:
            assert time.monotonic() < end
            time.sleep(0.01)

    def __enter__(self) -> Load:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        for each in self._threads:
            each.join()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    made = script_in(folder / "source", SCRIPT)
    with Service(folder / "run", workers=2, listener=str(folder / "listener"), log_requests=False, **made) as running:
        running.until(lambda status: [each["state"] for each in status.workers] == [READY, READY])
        yield running


def pids(status: WorkerStatus) -> set[int]:
    return {each["pid"] for each in status.workers if each["state"] == READY}


def test_a_killed_worker_loses_its_own_requests_only(service: Service) -> None:
    """At most the request that each client has with the killed one is lost."""
    before = pids(service.status)
    with Load(service.port) as load:
        load.more(50)
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        load.more(50)
        service.until(lambda status: len(pids(status)) == 2 and victim not in pids(status))
        load.more(50)
    assert load.lost <= 4
    error = service.status.error
    assert error is not None
    assert "SIGKILL" in error.message


def test_a_run_that_ends_its_process_leaves_the_service_up(service: Service) -> None:
    restarts = sum(each["restarts"] for each in service.status.workers)
    with pytest.raises((OSError, http.client.HTTPException)):
        service.ask("/score", {"exit": 7})
    assert service.ask("/score", {}).status == 200
    status = service.until(
        lambda status: len(pids(status)) == 2 and sum(e["restarts"] for e in status.workers) > restarts
    )
    assert status.error is not None
    assert "exited with 7" in status.error.message


def test_a_revision_takes_over_under_load_without_a_failed_request(service: Service, tmp_path: Path) -> None:
    made = {name: getattr(service.settings, name) for name in ("source_directory", "app_root", "entry_script")}
    port, listener = service.port, service.settings.listener
    with (
        Service(tmp_path, port=port, listener=listener, revision=2, log_requests=False, **made) as successor,
        Load(port) as load,
    ):
        successor.ready()
        load.more(50)
        assert successor.port == port
        assert service.drain() == 0
        load.more(100)
        load.pids.clear()
        load.more(20)
        assert load.pids == pids(successor.status)
        assert load.lost == 0
    assert successor.process.wait() is not None


def test_a_worker_that_grows_is_replaced_without_a_failed_request(tmp_path: Path) -> None:
    made = script_in(tmp_path / "source", SCRIPT)
    limit = 150 * 1024 * 1024
    with Service(tmp_path / "run", memory_limit_bytes=limit, log_requests=False, **made).ready() as service:
        (before,) = pids(service.status)
        with Load(service.port, 2) as load:
            assert service.ask("/score", {"grow": limit}).status == 200
            service.until(lambda status: pids(status) not in ({before}, set()))
            service.until(lambda status: before not in {each["pid"] for each in status.workers})
            load.more(20)
        assert load.lost == 0
        assert "more than its part" in service.log()
        assert service.drain() == 0
        assert service.status.state == "draining"


def test_a_port_that_is_taken_is_told(service: Service, tmp_path: Path) -> None:
    made = script_in(tmp_path / "source", SCRIPT)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with Service(tmp_path / "run", port=port, **made) as refused:
            assert refused.ended() == 3
            error = refused.status.error
    assert error is not None
    assert f"Port {port}" in error.message


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of other processes can be set on Linux alone")
def test_on_a_full_disk_it_answers_and_replaces_its_workers(tmp_path: Path) -> None:
    """What it would have logged and told is lost; what it is asked is not. A limit of 0 for files stands for the disk:
    each write to one fails."""
    script = script_in(tmp_path / "src", 'print("loaded")\n' + SCRIPT.replace("given =", 'print("called"); given ='))
    with Service(tmp_path, workers=2, **script).ready() as service:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        both = service.until(lambda status: all(each["state"] == READY for each in status.workers))
        logged = service.log()
        full = [service.process.pid, *(each["pid"] for each in both.workers)]
        for pid in full:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
        for _ in range(20):
            assert service.ask("/score", {}).status == 200
        before = {each["pid"] for each in both.workers}
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: alive_and_new(service, before), "another worker")
        assert service.log() == logged, "nothing could be written"
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))
        service.until(lambda status: before.isdisjoint(each["pid"] for each in status.workers))


def alive_and_new(service: Service, before: set[int]) -> bool:
    try:
        return service.ask("/score", {}).json()["pid"] not in before
    except (OSError, http.client.HTTPException):
        return False
