"""The connection to one Ray cluster: a line that is opened when it is needed, and anew when it is broken."""

from __future__ import annotations

import contextlib
import shlex
import sys
import threading
import time

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.ray.line import QUIET, Line, OnEvent
from runyard.engines.ray.request import Address

DEAF = 25.0  # seconds; a driver that was silent for so long is replaced
UNUSED = 600.0  # a driver that nobody has needed for so long ends
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0  # between attempts to reach a cluster that is away


class Connection:
    def __init__(self, address: Address, namespace: str, python: str, token_file: str, on_event: OnEvent) -> None:
        self.address = address
        self._settings = {"address": str(address), "namespace": namespace}
        self._python = python
        self._environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": token_file} if token_file else {}
        self._on_event = on_event
        self._opening = threading.Lock()
        self._line: Line | None = None
        self._used_at = time.monotonic()
        self._failure: EngineError = EngineAway("it was not tried yet")
        self._try_at = 0.0
        self._pause = FIRST_PAUSE
        self._closed = False

    def line(self, again: bool = False) -> Line:
        """The line, opened when there is none. A cluster that was away a moment ago is not tried, unless `again`."""
        with self._opening:
            self._used_at = time.monotonic()
            line = self._line
            if line is not None and line.alive:
                if line.quiet < QUIET:
                    return line
                if line.quiet < DEAF:
                    raise self.explained(EngineAway(f"nothing was heard of it for {line.quiet:.0f} seconds"))
                line.end()
            if time.monotonic() < self._try_at and not again:
                raise self._failure
            try:
                self._line = self._open()
            except EngineError as error:
                self._failure = self.explained(error)
                self._try_at = time.monotonic() + self._pause
                self._pause = min(self._pause * 2, LONGEST_PAUSE)
                raise self._failure from error
            self._pause = FIRST_PAUSE
            return self._line

    def rest(self) -> None:
        """Let the driver end when nobody has needed it for long."""
        if self._line is not None and time.monotonic() - self._used_at > UNUSED:
            self._end_line()

    def close(self) -> None:
        self._closed = True
        self._end_line()

    def explained(self, error: EngineError) -> EngineError:
        """The same error for a person: which cluster, and what to do."""
        message = str(error).rstrip(".")
        if isinstance(error, EngineAway):
            what = f"The Ray cluster at {self.address} does not answer: {message}. See whether its head is up."
            if not self.address.client:
                host = self.address.host
                what += f" If this machine is no node of the cluster, give the address ray://{host}:10001 instead."
            elif not self._environment:
                what += " If the cluster asks for a token, set token_file."
            return EngineAway(what)
        return EngineError(f"The Ray cluster at {self.address} cannot be used: {message}. {_what_to_do(message)}")

    def _open(self) -> Line:
        if self._closed:
            raise EngineAway("the server is ending")
        self.address.probe()
        line = Line(self._python, self._settings, self._environment, self._on_event)
        line.await_ready()
        return line

    def _end_line(self) -> None:
        with self._opening:
            line, self._line = self._line, None
        if line is not None:
            with contextlib.suppress(OSError):
                line.close()


def _what_to_do(message: str) -> str:
    python, missing, _ = message.partition(" has no Ray")
    if missing:
        from runyard.contracts.installation import installation

        own = python == sys.executable
        command = installation().with_extra("ray") if own else f"{shlex.quote(python)} -m pip install 'ray[default]'"
        return f"Install it there (`{command}`), or set ray_python to an interpreter that has it."
    if "version" in message.lower():
        return "Set ray_python to an interpreter with the same versions of Python and Ray as the cluster has."
    if "token" in message.lower() or "authentic" in message.lower():
        return "Set token_file to the file that holds the cluster's token."
    return "Run `runyard doctor` when that is put right."
