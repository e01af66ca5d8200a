"""Horovod's elastic state, as far as Runyard's restarts give it.

Horovod adds and removes workers of a running job. Here the number of ranks of a run is fixed: when a node is taken
away, the run starts again with its `outputs/`. So what a state commits is kept in `outputs/`, and a run that has been
started again goes on from there. A failure of a collective is not retried within the process: the run ends, or is
started again.
"""

from __future__ import annotations

import functools
import os
import time
from typing import Any, Callable

from . import sessions
from .places import number

FOLDER = os.path.join("outputs", "horovod_elastic")
RESTARTS = "AZUREML_RUN_RESTART_COUNT"


class State:
    """What is committed, restored and kept the same on all ranks. A framework says how by deriving from it."""

    def __init__(self, broadcast: Callable[[Any], Any], **values: Any) -> None:
        self._broadcast, self._values = broadcast, dict(values)
        self._reset_callbacks: list[Callable[[], None]] = []
        self._written = 0.0
        self._saved: dict[str, Any] = {}
        self.__dict__.update(values)

    def register_reset_callbacks(self, callbacks: list[Callable[[], None]]) -> None:
        self._reset_callbacks.extend(callbacks)

    def on_reset(self) -> None:
        for callback in self._reset_callbacks:
            callback()

    def on_hosts_updated(self, timestamp: float, update_res: Any) -> None:
        """Nothing: the hosts of a run are not changed while it lives."""

    def check_host_updates(self) -> None:
        """Nothing: see `on_hosts_updated`."""

    def commit(self) -> None:
        """Keep the state as it is now; on rank 0 also in `outputs/`, not more often than every 30 seconds
        (RUNYARD_HOROVOD_COMMIT_SECONDS)."""
        self.save()
        now = time.monotonic()
        if sessions.current().place.rank == 0 and now - self._written >= number("RUNYARD_HOROVOD_COMMIT_SECONDS", 30.0):
            self._written = now
            os.makedirs(FOLDER, exist_ok=True)
            path = self._path()
            self.write(f"{path}.part")
            os.replace(f"{path}.part", path)

    def save(self) -> None:
        self._saved = self.content()

    def restore(self) -> None:
        """Back to what was committed last."""
        if self._saved:
            self.put(self._saved)

    def sync(self) -> None:
        """The state of rank 0, on all ranks."""
        self.put(self._broadcast(self.content() if sessions.current().place.rank == 0 else None))
        self.save()

    def resume(self) -> bool:
        """In a run that was started again, what rank 0 had written before; whether there was something."""
        found = os.environ.get(RESTARTS, "0") not in ("", "0") and os.path.exists(self._path())
        if sessions.current().place.rank == 0 and found:
            self.put(self.read(self._path()))
        return found

    # -- what a framework changes -------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        import copy

        return {"values": {name: copy.deepcopy(getattr(self, name)) for name in self._values}}

    def put(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content["values"])

    def write(self, path: str) -> None:
        from . import objects

        with open(path, "wb") as file:
            file.write(objects.dump(self._saved))

    def read(self, path: str) -> dict[str, Any]:
        from . import objects

        with open(path, "rb") as file:
            found: dict[str, Any] = objects.load(file.read())
        return found

    def _path(self) -> str:
        return os.path.join(FOLDER, f"{type(self).__name__}.state")


def run(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function with a state that is the same on all ranks, and that goes on where the run was interrupted."""

    @functools.wraps(function)
    def called(state: State, *args: Any, **kwargs: Any) -> Any:
        resumed = state.resume()
        state.sync()
        if resumed:
            state.on_reset()
        return function(state, *args, **kwargs)

    return called
