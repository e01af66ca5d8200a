"""The line to a driver: a child process with Ray, asked and answering in lines of JSON."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.runners import HIDDEN_FROM_RUNS

DRIVER = Path(__file__).with_name("driver.py")

STARTED, LOADED, CONNECTED, READY = "started", "loaded", "connected", "ready"

PATIENCE = {STARTED: 60.0, LOADED: 12.0, CONNECTED: 70.0}
"""Seconds from each step of a driver's start to the next. Only the second waits for whoever answers on the address."""

FAR_PATIENCE = 45.0
"""In place of the second, for an address of the form ray://: the cluster starts a process for each such client."""

QUIET = 12.0  # seconds; a driver that was silent for so long has lost the cluster, most likely

OnEvent = Callable[["Line", dict[str, Any]], None]
"""Called with every event. From the thread that reads the answers: it must not ask."""


class Silent(EngineAway):
    """The driver was asked and did not answer in time, so nobody knows whether it was done."""


class Line:
    """A driver that is alive, or was. `keeper` is the name of the one that takes new gangs, once it is ready."""

    def __init__(self, python: str, settings: dict[str, str], environment: dict[str, str], on_event: OnEvent) -> None:
        self.keeper = ""
        far = settings.get("address", "").startswith("ray://")
        self._patience = {**PATIENCE, LOADED: FAR_PATIENCE} if far else PATIENCE
        self._reached = STARTED
        self._last_message_at = time.monotonic()
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._answers: dict[int, dict[str, Any]] = {}
        self._failed: dict[str, Any] | None = None
        self._ended = False
        self._last_message = ""
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - the reader closes it
        inherited = {
            name: value for name, value in os.environ.items() if name not in (*HIDDEN_FROM_RUNS, "RAY_ADDRESS")
        }
        try:
            self._process = subprocess.Popen(
                [python, str(DRIVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={
                    **inherited,
                    "RAY_NUM_REDIS_GET_RETRIES": "5",
                    **environment,
                },  # Ray tries for 20 seconds otherwise
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            errors.close()
            raise EngineError(f"The Python with Ray cannot be started: {python}: {error.strerror}.") from error
        threading.Thread(target=self._read, args=(errors,), name="ray-line", daemon=True).start()
        self._write(settings)

    @property
    def alive(self) -> bool:
        return not self._ended

    @property
    def quiet(self) -> float:
        """For how many seconds the cluster was silent."""
        return time.monotonic() - self._last_message_at

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_ready(self) -> None:
        """Wait until the driver is in the cluster. EngineAway when it is not in time, EngineError when it cannot be."""
        for step, patience in self._patience.items():
            with self._changed:
                if not self._changed.wait_for(partial(self._past, step), patience):
                    break
        if self._reached == READY:
            return
        message = self._last_message if self._ended else f"no answer within {patience:g} seconds"
        self.end()
        if self._failed is not None:
            raise (EngineAway if self._failed["away"] else EngineError)(self._failed["error"])
        raise EngineAway(message)

    def ask(self, do: str, timeout: float = 25.0, **arguments: Any) -> Any:
        """Have something done and wait for it. A driver that does not answer is of no use any more: it is ended."""
        number = next(self._numbers)
        self._write({"id": number, "do": do, **arguments})
        deadline = time.monotonic() + timeout
        with self._changed:
            while not self._changed.wait_for(lambda: number in self._answers or self._ended, 1.0):
                if time.monotonic() > deadline or self.quiet > QUIET:
                    break
            answer = self._answers.pop(number, None)
        if answer is None:
            message = self._last_message if self._ended else f"nothing was heard of it for {self.quiet:.0f} seconds"
            self.end()
            raise Silent(message)
        if "error" in answer:
            raise Silent(str(answer["error"]))
        return answer["answer"]

    def close(self) -> None:
        """Let the driver end by itself: its standard input does."""
        assert self._process.stdin is not None
        try:
            with self._writing, contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait(3.0)
        except subprocess.TimeoutExpired:
            self.end()

    def end(self) -> None:
        """End the driver now. What runs in the cluster goes on."""
        self._process.kill()
        self._process.wait()

    def _past(self, step: str) -> bool:
        return self._ended or self._failed is not None or self._reached != step

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(OSError, ValueError):  # ended or closed: whoever asked gets no answer
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self, errors: IO[bytes]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._take(json.loads(line))
        code = self._process.wait()
        with errors:
            errors.seek(0)
            lines = [line.strip() for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
        with self._changed:
            self._last_message = lines[-1] if lines else f"the driver ended with exit code {code}"
            self._ended = True
            self._changed.notify_all()
        self._on_event(self, {"event": "ended"})

    def _take(self, message: dict[str, Any]) -> None:
        self._last_message_at = time.monotonic()
        event = message.get("event")
        with self._changed:
            if event is None:
                self._answers[message["id"]] = message
            elif event == "failed":
                self._failed = message
            elif event in (LOADED, CONNECTED, READY):
                self._reached = event
                self.keeper = message.get("keeper", "")
            self._changed.notify_all()
        if event is not None:
            self._on_event(self, message)
