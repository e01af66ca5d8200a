"""Deploying services by HTTP and calling them all the time, with every answer counted."""

from __future__ import annotations

import http.client
import json
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.waiting import wait_until

from runyard.sdk.snapshot.snapshot import take_snapshot
from runyard.sdk.workspace.service import Service

Json = dict[str, Any]

ECHO = """
    import json, os, time

    def init():
        print("init of", os.path.basename(__file__))

    def run(data):
        asked = json.loads(data)
        time.sleep(asked.get("sleep", 0))
        if asked.get("die"):
            os._exit(7)
        return {"pid": os.getpid(), "mark": MARK}

    MARK = "first"
"""


class Deployer:
    """The services of one workspace, through the HTTP API."""

    def __init__(self, service: Service, folder: Path, workspace: str = "local") -> None:
        self._service, self.client, self._folder = service, service.client, folder
        self.base = f"/api/workspaces/{workspace}/services"
        self._count = 0

    def launch(self, script: str, **more: Any) -> Json:
        """The launch of a scoring script in the interpreter of the tests."""
        self._count += 1
        folder = self._folder / f"score-{time.monotonic_ns()}-{self._count}"
        folder.mkdir(parents=True)
        (folder / "score.py").write_text(textwrap.dedent(script))
        snapshot = take_snapshot(self._service, folder)
        return {"snapshot_id": snapshot, "entry_script": "score.py", "interpreter": sys.executable, **more}

    def deploy(self, name: str, script: str = ECHO, kind: str = "aci", wait: bool = True, **more: Any) -> Json:
        body = {"name": name, "kind": kind, "launch": self.launch(script), **more}
        made: Json = self.client.post(self.base, body)
        return self.settled(name) if wait else made

    def update(self, name: str, script: str, wait: bool = True, **more: Any) -> Json:
        made: Json = self.client.patch(f"{self.base}/{name}", {"launch": self.launch(script), **more})
        return self.settled(name) if wait else made

    def show(self, name: str) -> Json:
        found: Json = self.client.get(f"{self.base}/{name}")
        return found

    def settled(self, name: str) -> Json:
        """The service once what is being done to it has ended."""

        def ended() -> Json:
            found: Json = self.client.get(f"{self.base}/{name}", {"wait": 20})
            return found if found["operation"]["state"] != "Running" else {}

        found = wait_until(ended, f"the end of what is done to {name}")
        assert found is not None
        return found

    def logs(self, name: str) -> str:
        with self.client.stream(f"{self.base}/{name}/logs") as answer:
            return answer.read().decode()

    def remove(self, name: str) -> None:
        self.client.delete(f"{self.base}/{name}", timeout=90)

    def remove_all(self) -> None:
        for each in self.client.get(self.base)["services"]:
            self.remove(each["name"])

    def ready(self, name: str, count: int, role: str = "worker") -> list[Json]:
        """Wait until a service has so many replicas that are ready, and no others."""

        def found() -> list[Json]:
            all_of_it = [each for each in self.show(name)["replicas"] if each["role"] == role]
            right = len(all_of_it) == count and all(each["state"] == "ready" for each in all_of_it)
            return all_of_it or [{}] if right else []

        replicas = wait_until(found, f"{count} ready replicas of {name}")
        assert replicas is not None
        return replicas


class Caller:
    """Calls a service from some threads until told to stop; counts answers and keeps what went wrong."""

    def __init__(self, service: Mapping[str, Any], threads: int = 3, body: Json | None = None, key: str = "") -> None:
        self.port, self._body = service["port"], json.dumps(body or {})
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self.answers: list[Json] = []
        self.failures: list[str] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(threads)]

    @property
    def marks(self) -> set[str]:
        return {each["mark"] for each in self.answers}

    def wait_for(self, more: int = 10) -> None:
        """Wait until so many more answers have come."""
        until = len(self.answers) + more
        wait_until(lambda: len(self.answers) >= until, f"{more} more answers")

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _work(self, number: int) -> None:
        """Half of them use a connection again, the others make a new one for each request."""
        connection = None
        while not self._stop.is_set():
            try:
                if connection is None or number % 2:
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("POST", "/score", self._body, self._headers)
                response = connection.getresponse()
                content = response.read()
                if response.status == 200:
                    self.answers.append({**json.loads(content), "version": response.getheader("X-Runyard-Version")})
                else:
                    self.failures.append(f"{response.status} {content[:300]!r}")
                if response.will_close:
                    connection = None
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection = None


@contextmanager
def calling(service: Mapping[str, Any], threads: int = 3, body: Json | None = None, key: str = "") -> Iterator[Caller]:
    """Callers that are at work before the block begins, and have stopped when it is left."""
    caller = Caller(service, threads, body, key)
    for thread in caller._threads:
        thread.start()
    try:
        caller.wait_for(5)
        yield caller
    finally:
        caller.stop()


def call(service: Mapping[str, Any], body: Json, key: str = "", path: str = "/score") -> tuple[int, Any]:
    """One call; the status, and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", service["port"], timeout=60)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text.decode()
