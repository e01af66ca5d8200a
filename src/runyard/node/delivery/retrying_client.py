"""Requests to the server that are retried, for as long as it makes sense, until the server answers.

The server may be away for hours, be started anew on another port, or be out of disk: none of that is an error here.
A refusal that no retry can cure is `Refused`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Callable, Mapping, TypeVar

from runyard.client.http import Body, Client, ClientProblem, Locator, Params, Stream, quote
from runyard.contracts.plan import Plan
from runyard.node.log import log_line
from runyard.node.problem import Unwanted

LONGEST_PAUSE = 5.0
AFTER_THE_END = 3600.0  # seconds without an answer, once there is nothing more to wait for on this side
TRIES_AT_A_FAULT = 8  # of a request at which the server itself fails

_TEMPORARY = frozenset({"not_ready", "database_damaged", "disk_full", "client_too_old", "client_too_new"})

Answer = TypeVar("Answer")


class Refused(Exception):
    """The server will not take this, however often it is sent."""

    def __init__(self, problem: ClientProblem) -> None:
        super().__init__(f"{problem.title} {problem.help}".strip())
        self.code, self.detail, self.status = problem.code, problem.detail, problem.status


class ServerAway(Exception):
    """The server did not come back in time; what was to be delivered is still on the disk."""


class RetryingClient:
    """The requests of one run, for as long as its folder is there. Threads may share it. `check` is called often, and
    may raise to give up."""

    def __init__(
        self,
        run_id: str,
        locator: Locator,
        folder: Path,
        check: Callable[[], None] | None = None,
        attempt: int | None = None,
    ) -> None:
        self.run_id = run_id
        self.superseded = False  # another attempt of the run is under way: nobody waits for what this one does
        self.attempt = attempt  # the server stores what comes of another one apart
        self._folder = folder
        self._caller = check
        self.http = Client(locator, timeout=60.0, patience=0.0)
        self._answered_at = time.monotonic()
        self._ending_since: float | None = None
        self._hurry = Event()

    @staticmethod
    def of(plan: Plan, folder: Path, check: Callable[[], None] | None = None) -> RetryingClient:
        """That of a node runner."""
        server_file = Path(plan.server_file) if plan.server_file else None
        return RetryingClient(
            plan.run_id, Locator(plan.server_url, plan.token, server_file), folder, check, plan.attempt
        )

    def nothing_more_to_come(self) -> None:
        """From now on, a server that stays away for `AFTER_THE_END` seconds is not waited for any longer."""
        self._ending_since = time.monotonic()
        self._hurry.set()

    def fact(self, fact: Mapping[str, Any], run_id: str | None = None) -> None:
        """Report a fact. It is the heart of a run's history, so it is retried even when the server fails at it."""
        own = run_id is None or run_id == self.run_id
        value = {**fact, **self._attempt_of(run_id)}
        try:
            answer = self.send("POST", f"/api/runs/{quote(run_id or self.run_id)}/facts", value, insist=own)
            self.superseded = self.superseded or (own and bool(answer.get("over")))
        except Refused as refusal:
            if own and refusal.code == "run_not_found":
                raise Unwanted(f"run {self.run_id} was deleted on the server") from refusal
            log_line(f"the server refused the fact {fact.get('fact')!r} of {run_id or self.run_id}: {refusal}")

    def put(self, name: str, body: Body, length: int, digest: str, run_id: str | None = None) -> None:
        """Store a whole file in the history of the run (or of another one that its token is good for)."""
        headers, params = {"X-Runyard-Hash": digest}, self._attempt_of(run_id)
        path = self._path("files", name, run_id)
        self.send("PUT", path, body=body, length=length, headers=headers, params=params)

    def link(self, files: Mapping[str, str]) -> set[str]:
        """Name content that the server may have already; returns the names whose content it lacks."""
        path = f"/api/runs/{quote(self.run_id)}/links"
        answer = self.send("POST", path, {"files": dict(files)}, params=self._attempt_of())
        return set(answer["missing"])

    def stream(self, method: str, path: str, value: Any, read: Callable[[Stream], Answer]) -> Answer:
        """Request something large; `read` gets the response as it comes, anew when the connection breaks. What it has
        received is incomplete when it raises ConnectionError, which is retried too."""

        def once() -> Answer:
            with self.http.stream(path, method=method, value=value) as response:
                return read(response)

        return self.until_answered(once, insist=False)

    def send(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        body: Body | None = None,
        length: int | None = None,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        insist: bool = False,
    ) -> Any:
        return self.until_answered(
            lambda: self.http.request(
                method, path, value, body=body, length=length, params=params, headers=headers, patience=0.0
            ),
            insist,
        )

    def until_answered(self, once: Callable[[], Answer], insist: bool) -> Answer:
        """What `once` returns, as soon as it does; Refused when no retry can help. With `insist`, it is tried for as
        long as the server itself fails at it."""
        pause, faults, logged = 0.05, 0, False
        while True:
            self._check()
            try:
                answer = once()
            except (ClientProblem, ConnectionError) as error:
                problem = error if isinstance(error, ClientProblem) else ClientProblem("server_unreachable", str(error))
            else:
                self._answered_at = time.monotonic()
                if logged:
                    log_line("the server answers again")
                return answer
            faults += problem.code == "internal"
            if is_final(problem) or (faults >= TRIES_AT_A_FAULT and not insist):
                raise Refused(problem)
            if not logged and pause > 0.5:
                log_line(f"the server does not take it, trying on: {problem}")
                logged = True
            self._wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _check(self) -> None:
        if self._caller is not None:
            self._caller()
        if not self._folder.exists():
            raise Unwanted(f"the folder {self._folder} is gone")
        ending = self._ending_since
        if ending is not None and time.monotonic() - max(ending, self._answered_at) > AFTER_THE_END:
            raise ServerAway(f"the server has not answered for {AFTER_THE_END:.0f} s")

    def _wait(self, seconds: float) -> None:
        """Wait, but not longer than until a server has announced itself in server.json."""
        deadline = time.monotonic() + seconds
        known = self._announced()
        while time.monotonic() < deadline:
            if self._announced() != known:
                break
            self._check()
            self._hurry.wait(min(0.1, max(0.0, deadline - time.monotonic())))
            self._hurry.clear()
        address = self.http.locator.moved()
        if address is not None and address != self.http.url:
            self.http.locator = replace(self.http.locator, url=address)

    def _announced(self) -> int:
        file = self.http.locator.server_file
        try:
            return file.stat().st_mtime_ns if file is not None else 0
        except OSError:
            return 0

    def _attempt_of(self, run_id: str | None = None) -> dict[str, int]:
        """Names the attempt that something was written by; what is of another run has none."""
        own = run_id is None or run_id == self.run_id
        return {"attempt": self.attempt} if own and self.attempt is not None else {}

    def _path(self, kind: str, name: str, run_id: str | None = None) -> str:
        return f"/api/runs/{quote(run_id or self.run_id)}/{kind}/{quote(wire_name(name))}"


def is_final(problem: ClientProblem) -> bool:
    """Whether a retry cannot help. A response without a problem document is from another program on that port, or from
    a proxy; of those, only that a body is too large is final."""
    if problem.code == "object_damaged":
        return True
    if problem.code in _TEMPORARY or (problem.code.startswith("http_") and problem.status != 413):
        return False
    return 400 <= problem.status < 500 and problem.status not in (401, 408, 429)


def wire_name(name: str) -> str:
    """A file name in a form that can be sent: bytes that are no UTF-8 are written as %XX."""
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in name)
