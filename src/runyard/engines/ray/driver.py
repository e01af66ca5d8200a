"""Talks to one Ray cluster for the server, in an interpreter that has Ray: lines of JSON in, lines of JSON out.

    <python with ray> driver.py

The first line holds the cluster's address. The driver makes a keeper there for the gangs that it is given, and follows
the keepers of former drivers whose gangs are needed. It holds nothing that matters: killed at any moment, the next
one finds everything again by the names of the keepers. It ends when its standard input does.

    in   {"id": 1, "do": "start", "gang": ..., "spec": ...}      out  {"id": 1, "answer": ...}
                                                                      {"id": 1, "error": "...", "away": true}
                                                                      {"event": "gangs", "keeper": ..., "gangs": [...]}
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 20.0  # seconds for an answer of a keeper
BEAT = 3.0  # each keeper that is followed reports at least so often

SENT = ("keeper", "internals", "node_task", "reasons")
"""The modules beside this file that the cluster gets by value."""


class Output:
    """Standard output: one line of JSON at a time. What libraries print goes to standard error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def write(self, **message: Any) -> None:
        with self._lock:
            self._file.write(json.dumps(message) + "\n")
            self._file.flush()


class Keepers:
    """The keepers of this cluster that this driver speaks with: its own, and those of former drivers."""

    def __init__(self, ray: Any, output: Output, namespace: str) -> None:
        self._ray, self._output, self._namespace = ray, output, namespace
        self._others: dict[str, set[str]] = {}  # of each that is listened to, the gangs that are still needed
        self._lock = threading.Lock()
        self._handles: dict[str, Any] = {}
        self.own = f"runyard-keeper-{secrets.token_hex(6)}"

    def make(self) -> None:
        modules = {name: importlib.import_module(name) for name in SENT}
        for module in modules.values():
            self._ray.cloudpickle.register_pickle_by_value(module)  # the cluster has no such module
        tether = Path(__file__).with_name("tether.py").read_text("utf-8")
        options = {
            "name": self.own,
            "namespace": self._namespace,
            "lifetime": "detached",
            "num_cpus": 0,
            # The head is the node that an autoscaler never takes away.
            "resources": {"node:__internal_head__": 0.001},
        }
        made = self._ray.remote(modules["keeper"].Keeper).options(**options)
        self._handles[self.own] = made.remote(tether, modules["internals"].Internals())
        self._ray.get(self._handles[self.own].cluster.remote(), timeout=3 * PATIENCE)  # a new process, which takes time
        self._follow(self.own)

    def nodes(self) -> Any:
        return self._get(self._handles[self.own].cluster.remote())

    def start(self, gang: str, spec: dict[str, Any]) -> None:
        self._get(self._handles[self.own].start.remote(gang, spec))

    def find(self, keeper: str, gang: str) -> Any:
        """The state of a gang; None when its keeper does not know it, or has ended. The keeper is followed then."""
        found = self._call(keeper, "find", gang)
        if found is not None and keeper != self.own:
            with self._lock:
                known = keeper in self._others
                self._others.setdefault(keeper, set()).add(gang)
            if not known:
                self._follow(keeper)
        return found

    def stop(self, keeper: str, gang: str) -> None:
        self._call(keeper, "stop", gang)

    def forget(self, keeper: str, gang: str) -> None:
        self._call(keeper, "forget", gang)
        with self._lock:
            self._others.get(keeper, set()).discard(gang)

    def _call(self, keeper: str, do: str, gang: str) -> Any:
        """Call a keeper, whoever made it. None when it has ended."""
        try:
            if keeper not in self._handles:
                self._handles[keeper] = self._ray.get_actor(keeper, self._namespace)
            return self._get(getattr(self._handles[keeper], do).remote(gang))
        except (ValueError, self._ray.exceptions.ActorDiedError):  # there is none of that name, or no longer
            return None

    def _get(self, reference: Any) -> Any:
        return self._ray.get(reference, timeout=PATIENCE)

    def _follow(self, keeper: str) -> None:
        threading.Thread(target=self._listen, args=(keeper,), daemon=True).start()

    def _listen(self, keeper: str) -> None:
        """Pass on what a keeper reports of its gangs, for as long as somebody needs one of them."""
        failures = self._ray.exceptions
        since = 0
        while self._wanted(keeper):
            try:
                asked = self._handles[keeper].changes.remote(since, BEAT)
                since, gangs = self._ray.get(asked, timeout=BEAT + PATIENCE)
            except (failures.GetTimeoutError, failures.ActorUnavailableError):
                time.sleep(0.2)
                continue
            except failures.RayActorError as error:
                self._output.write(event="lost", keeper=keeper, why=first_line(error))
                with self._lock:
                    self._others.pop(keeper, None)
                return
            self._output.write(event="gangs", keeper=keeper, gangs=gangs)

    def _wanted(self, keeper: str) -> bool:
        with self._lock:
            wanted = keeper == self.own or bool(self._others[keeper])
            if not wanted:
                del self._others[keeper]
            return wanted


def main() -> None:
    output = Output()
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=read, args=(requests,), daemon=True).start()
    try:
        import ray
    except ImportError as error:
        output.write(event="failed", away=False, error=f"{sys.executable} has no Ray ({error})")
        return
    output.write(event="loaded")
    try:
        namespace = settings["namespace"]
        ray.init(address=settings["address"], namespace=namespace, log_to_driver=False, logging_level="ERROR")
        output.write(event="connected")
        keepers = Keepers(ray, output, namespace)
        keepers.make()
    except Exception as error:  # noqa: BLE001 - Ray raises many kinds, and all of them are reported
        refusal = refused(error)
        output.write(event="failed", away=refusal is None, error=refusal or first_line(error))
        return
    output.write(event="ready", keeper=keepers.own, ray=ray.__version__)
    does: dict[str, Callable[..., Any]] = {
        name: getattr(keepers, name) for name in ("nodes", "start", "find", "stop", "forget")
    }
    while True:
        request = requests.get()
        number, do = request.pop("id"), request.pop("do")
        try:
            output.write(id=number, answer=does[do](**request))
        except ray.exceptions.RayError as error:
            output.write(id=number, error=first_line(error), away=True)


def read(requests: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)  # nothing here needs an ending, and Ray may hang in its own


def refused(error: Exception) -> str | None:
    """The message of the cluster, if a retry will not help: it has other versions, or does not know the token."""
    signs = ("Version mismatch", "AuthenticationError", "InvalidAuthToken")
    for line in "".join(traceback.format_exception(error)).splitlines():
        if any(sign in line for sign in signs):
            return line.strip().partition(". ")[0].rpartition("Error: ")[2]
    return None


def first_line(error: BaseException) -> str:
    r"""The beginning of the message of an error. Of a traceback in it, which the cluster may have sent, the last line.

    >>> first_line(RuntimeError("No server: Traceback (most recent call last):\n  File x, line 1\nValueError: no port"))
    'No server: ValueError: no port'
    """
    message, _, trace = str(error).partition("Traceback (most recent call last)")
    lines, last = _lines(message), _lines(trace)[-1:]
    return " ".join((*lines[: 3 - len(last)], *last)) or type(error).__name__


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    main()
