"""Following a run: its states and logs as they come, through broken connections and restarts of the server."""

from __future__ import annotations

import codecs
import time
from typing import Iterator

from runyard.client.http import QUIET, ClientProblem, Event, Unreachable, quote
from runyard.contracts import home as homes
from runyard.contracts.states import TERMINAL
from runyard.sdk.notices import notice
from runyard.sdk.workspace.service import Service, sdk_exception
from runyard.system.records import replace

LONGEST_PAUSE = 2.0


def follow(service: Service, run_id: str, deadline: float | None = None) -> Iterator[Event]:
    """The events of a run until it has ended, or until the deadline.

    After a reconnect the server sends the current state, so that nothing is missed. A server that was stopped on
    purpose is waited for; one that has died is started again.
    """
    pause, noticed = 0.05, False
    while deadline is None or time.monotonic() < deadline:
        try:
            with service.client.events(f"/api/runs/{quote(run_id)}/events") as events:
                pause = 0.05
                for news in events:
                    event = _as_it_is(service, run_id) if news is QUIET else news
                    yield event
                    if event.name == "state" and event.value["status"] in TERMINAL:
                        return
                    if deadline is not None and time.monotonic() > deadline:
                        return
        except Unreachable:
            if _has_died(service):
                _as_it_is(service, run_id)  # the client restarts it
                continue
            if pause >= LONGEST_PAUSE and not noticed:
                noticed = True
                notice(f"The Runyard server at {service.url} does not answer. The run goes on; waiting for the server.")
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            _take_up_new_address(service)
        except ClientProblem as problem:
            raise sdk_exception(problem) from None


def _as_it_is(service: Service, run_id: str) -> Event:
    """Fetched after a while without events: a lost event costs seconds, not the end of the run."""
    document = service.get(f"/api/runs/{quote(run_id)}")
    return Event("state", {"status": document["status"], "at": None, "reason": document["reason"]})


def _has_died(service: Service) -> bool:
    """Whether the server of this machine crashed: one that was stopped has removed its server.json."""
    return service.home is not None and homes.read_server(service.home) is not None


def _take_up_new_address(service: Service) -> None:
    address = service.client.locator.moved()
    if address is not None:
        service.client.locator = replace(service.client.locator, url=address)


class LogReader:
    """Reads a growing log of a run from where it was last read."""

    def __init__(self, service: Service, run_id: str, name: str) -> None:
        self.name = name
        self._service = service
        self._address = f"/api/runs/{quote(run_id)}/files/{quote(name)}"
        self._offset = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def new_text(self) -> Iterator[str]:
        """The text that was appended to the log, as it arrives."""
        headers = {"Range": f"bytes={self._offset}-"} if self._offset else {}
        try:
            with self._service.client.stream(self._address, headers=headers) as answer:
                if self._offset and answer.status != 206:
                    return
                for chunk in answer:
                    self._offset += len(chunk)
                    yield self._decoder.decode(chunk)
        except Unreachable:
            return  # the next event, or the end, continues here
        except ClientProblem as problem:
            if problem.code == "bad_range":  # shorter than what was read: it was truncated, and starts again
                self._offset = 0
                self._decoder.reset()
            elif problem.code != "file_not_found":
                raise sdk_exception(problem) from None
