"""Waiting for a deployment: until its operation has ended, with the steps of it shown as they come."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice import wire

if TYPE_CHECKING:
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

RUNNING, SUCCEEDED = "Running", "Succeeded"
HELD, SHOWN_HELD = 5.0, 0.5
"""Seconds for which the server holds one question: until the end is waited for, and where steps are shown."""
DOT_EVERY = 5.0
"""Seconds without news that are a dot, as in SDK v1."""

Show = Callable[[str, str], None]
"""A text, and what ends it."""


def local_time(moment: str) -> str:
    """A time of the server as SDK v1 shows it: local, with its offset."""
    return str(moment_of(moment).astimezone().replace(microsecond=0)) if moment else ""


def moment_of(text: str) -> datetime:
    """
    >>> moment_of("2026-11-17T10:00:00.5Z").second
    0
    """
    whole, _, _ = text.replace("Z", "").partition("+")
    form = "%Y-%m-%dT%H:%M:%S.%f" if "." in whole else "%Y-%m-%dT%H:%M:%S"
    return datetime.strptime(whole, form).replace(tzinfo=timezone.utc)


def watched(workspace: Workspace, name: str, timeout_sec: float | None, show: Show | None) -> Document:
    """The service once its operation has ended. WebserviceException when that takes too long."""
    deadline = None if timeout_sec is None else time.monotonic() + timeout_sec
    steps = _Steps(show)
    while True:
        held = HELD if show is None else SHOWN_HELD
        if deadline is not None:
            held = max(min(held, deadline - time.monotonic()), 0.0)
        document = wire.fetched(workspace, name, {"wait": f"{held:.2f}"}, held + 60)
        doing = operation(document)
        steps.show(doing["steps"])
        if doing["state"] != RUNNING:
            steps.end()
            return document
        if deadline is not None and time.monotonic() >= deadline:
            steps.end()
            raise WebserviceException(
                f"The service {name!r} was not up after {timeout_sec:g} s. It goes on starting: wait again, or look at "
                "service.get_logs()."
            )


class _Steps:
    """The steps of an operation on their way to a screen: each once, and a dot where nothing happens."""

    def __init__(self, show: Show | None) -> None:
        self._show = show
        self._shown = 0
        self._dots = False
        self._last = time.monotonic()

    def show(self, steps: Sequence[Mapping[str, str]]) -> None:
        if self._show is None:
            return
        for step in steps[self._shown :]:
            self.end()
            self._show(f"{local_time(step['time'])} {step['text']}", "\n")
        news = len(steps) > self._shown
        self._shown = len(steps)
        if news or time.monotonic() - self._last >= DOT_EVERY:
            self._last = time.monotonic()
            if not news:
                self._show(".", "")
                self._dots = True

    def end(self) -> None:
        """End a line of dots."""
        if self._show is not None and self._dots:
            self._show("", "\n")
            self._dots = False


def operation(document: Mapping[str, Any]) -> Document:
    """What is being done with a service. One about which nothing is told has been done."""
    told = document.get("operation") or {}
    return {"id": "", "state": SUCCEEDED, "steps": [], "error": None, **told}


def failure(document: Mapping[str, Any]) -> WebserviceException:
    """Why an operation did not succeed, and where to look."""
    doing = operation(document)
    cause = words_of(doing["error"] or document.get("error"))
    name = document["name"]
    return WebserviceException(
        f"The service {name!r} did not come up: its operation {doing['id']} ended as {doing['state']}, and the service "
        f"is {document['state']}. {cause} service.get_logs() and `runyard services logs {name}` show what it wrote.",
        details=doing["error"] or document.get("error"),
    )


def words_of(error: object) -> str:
    """An error of a service in words, with its full stop."""
    if not error:
        return "Nothing was said about the cause."
    if isinstance(error, Mapping):
        said = str(error.get("message") or error.get("title") or error)
        line = f" ({error['file']}, line {error['line']})" if error.get("file") and error.get("line") else ""
        help = f" {error['help']}" if error.get("help") else ""
        return f"{said.rstrip().rstrip('.')}{line}.{help}"
    return f"{str(error).rstrip().rstrip('.')}."
