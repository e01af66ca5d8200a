"""`RunDetails`, SDK v1's widget: a live view of a run below the cell of a notebook; in a terminal, as text.

It is plain HTML in one display that a thread updates, so it works in every front end, without a network, and stays in
the saved notebook. IPython is used where it is already running, and never imported otherwise.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Protocol

from runyard.client.http import Client
from runyard.contracts.journal import unpack_value
from runyard.contracts.states import TERMINAL
from runyard.sdk.exceptions import AzureMLException, UserErrorException
from runyard.sdk.notebook import in_kernel
from runyard.sdk.run.details import details
from runyard.sdk.widgets import rendering
from runyard.sdk.widgets.overview import Look, look
from runyard.sdk.workspace.service import Service, problem_code

if TYPE_CHECKING:
    from runyard.contracts.documents import MetricDocument
    from runyard.sdk.run.run import Run

EVERY = 1.0
SHARE = 10  # a look that takes long is followed by a pause that is so many times as long
LONGEST_PAUSE = 30.0
AWAY_PAUSE = 3.0  # polling must not burden a server that does not answer
FIRST_LOOK = 3.0
LAST_LOOK = 5.0
PATIENCE = 1.0
TIMEOUT = 20.0
HANDLES = 4
CHILDREN = 100


class RunDetails:
    """The widget of a run: `RunDetails(run).show()`."""

    def __init__(self, run_instance: Run) -> None:
        from runyard.sdk.run.run import Run

        if not isinstance(run_instance, Run):
            raise UserErrorException(
                f"RunDetails shows a run of a workspace, not a value of the type {type(run_instance).__name__}."
            )
        self._run = run_instance

    def show(self, render_lib: Any = None, widget_settings: Mapping[str, Any] | None = None) -> None:
        """Show the run. In a notebook the view follows the run until it has ended, and the cell does not wait for it;
        elsewhere its current state is printed. The arguments exist for SDK v1 and change nothing."""
        if in_kernel():
            _follow(self._run)
        else:
            print(rendering.text(look(self._run._service, self._run.id)), flush=True)

    def get_widget_data(self, widget_settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the widget shows, as a dict with SDK v1's keys: series are downsampled, the log is cut to its end."""
        service = self._run._service
        seen = look(service, self._run.id)
        run = seen.run
        children = service.get("/api/runs", {"parent": run["id"], "limit": CHILDREN})["runs"]
        found = details(run)
        return {
            "status": run["status"],
            "run_id": run["id"],
            "workbench_run_details_uri": run["web_url"],
            "run_properties": {
                "run_id": run["id"],
                "run_number": run["number"],
                "status": run["status"],
                "reason": run["reason"],
                "created_utc": run["created_at"],
                "start_time_utc": run["started_at"],
                "end_time_utc": run["ended_at"],
                "tags": run["tags"],
                "properties": run["properties"],
                "log_files": found["logFiles"],
                "error": found.get("error"),
                "warnings": found.get("warnings", []),
            },
            "child_runs": [
                {"run_id": child["id"], "run_number": child["number"], "status": child["status"]} for child in children
            ],
            "run_metrics": [_metric(run["id"], metric) for metric in seen.metrics],
            "run_logs": seen.tail,
            "widget_settings": dict(widget_settings or {}),
            "loading": False,
        }

    def _ipython_display_(self) -> None:
        self.show()


class Handle(Protocol):
    """IPython's DisplayHandle."""

    def update(self, obj: Mapping[str, str], **options: Any) -> None: ...


class Watch:
    """Follows one run in a thread, for all the displays that show it, until the run has ended."""

    def __init__(self, service: Service, run_id: str) -> None:
        # It must not start a server that was stopped: it only looks.
        locator = replace(service.client.locator, revive=None)
        self._service = Service(Client(locator, timeout=TIMEOUT, patience=PATIENCE), service.home)
        self._run_id = run_id
        self._handles: list[Handle] = []
        self._wake = threading.Event()
        self._drawn = threading.Event()  # the displays show what was last seen
        self._seen: Look | None = None
        self._over = False
        self._thread = threading.Thread(target=self._work, name=f"widget of {run_id}", daemon=True)

    def add(self, handle: Handle) -> None:
        """Add a display. The caller holds the lock, so that a watch that is about to end sees it."""
        self._handles = [*self._handles, handle][-HANDLES:]  # cells that were run again have lost their display
        self._drawn.clear()
        self._wake.set()

    def start(self) -> None:
        self._thread.start()

    def await_drawing(self, seconds: float) -> None:
        self._drawn.wait(seconds)

    def settle(self, seconds: float) -> None:
        """The run has ended: draw its final state now."""
        self._wake.set()
        self._thread.join(seconds)

    def _work(self) -> None:
        shown, served = "", None
        while True:
            began = time.monotonic()
            self._wake.clear()
            handles = self._handles
            note = self._look()
            bundle = self._bundle(note)
            if handles is not served or bundle["text/html"] != shown:
                for handle in handles:
                    handle.update(bundle, raw=True)
            shown, served = bundle["text/html"], handles
            with _lock:
                if self._handles is served:
                    self._drawn.set()
                    if self._over:
                        _watches.pop(self._run_id, None)
                        return
            drawn = time.monotonic()
            pause = AWAY_PAUSE if note else min(max(EVERY, SHARE * (drawn - began)), LONGEST_PAUSE)
            self._wake.wait(pause)
            time.sleep(max(0.0, drawn + EVERY - time.monotonic()))  # who wakes it does not hurry it

    def _look(self) -> str:
        """Fetch the run's current state; returns a note when that fails."""
        try:
            self._seen = look(self._service, self._run_id)
        except AzureMLException as error:
            self._over = problem_code(error) in ("run_not_found", "not_allowed", "not_authenticated")
            return error.message if self._over else f"{error.message} This is how it was seen last."
        self._over = self._seen.run["status"] in TERMINAL
        return ""

    def _bundle(self, note: str) -> dict[str, str]:
        if self._seen is None:
            return loading(self._run_id, note)
        return {"text/html": rendering.html(self._seen, note), "text/plain": rendering.text(self._seen, note)}


_watches: dict[str, Watch] = {}
_lock = threading.Lock()


def settle(run_id: str) -> None:
    """Called when the run's end was seen: the notebook is saved with its final picture."""
    watch = _watches.get(run_id)
    if watch is not None:
        watch.settle(LAST_LOOK)


def loading(run_id: str, note: str) -> dict[str, str]:
    from runyard.sdk.notebook import escape
    from runyard.sdk.printable import printable

    text = printable(f"Run {run_id}: {note}")
    return {"text/html": f"<div>{escape(text)}</div>", "text/plain": text}


def _follow(run: Run) -> None:
    import IPython.display

    display: Any = IPython.display.display  # it has no types
    handle: Handle = display(loading(run.id, "..."), raw=True, display_id=True)
    with _lock:
        watch = _watches.get(run.id)
        new = watch is None
        if watch is None:
            watch = _watches[run.id] = Watch(run._service, run.id)
        watch.add(handle)
        if new:
            watch.start()
    # A notebook that is run as a whole may end right here, and is saved with what is shown by then.
    watch.await_drawing(FIRST_LOOK)


def _metric(run_id: str, metric: MetricDocument) -> dict[str, Any]:
    columns = metric.get("columns") or {"": _series(metric)}
    values = {name: [unpack_value(value) for value in column] for name, column in columns.items()}
    length = max((len(column) for column in values.values()), default=0)
    series = [{"data": column, **({"name": name} if name else {})} for name, column in values.items()]
    return {"name": metric["name"], "run_id": run_id, "categories": list(range(length)), "series": series}


def _series(metric: Any) -> list[Any]:
    buckets = metric.get("buckets")
    return [each["last"] for each in buckets] if buckets else metric.get("values") or []
