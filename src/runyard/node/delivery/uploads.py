"""The thread that uploads the outputs of a run, which may be large: what has settled, and everything at the end."""

from __future__ import annotations

import threading
import time
from typing import Callable, Sequence

from runyard.node.delivery.settling import SettlingFolder

LOOK_EVERY = 1.0


class Uploads:
    """There is no thread for a run without outputs, nor for one that ends within `LOOK_EVERY` seconds."""

    def __init__(self, outputs: Sequence[SettlingFolder], finished: Callable[[], None]) -> None:
        self.pace = 0.0  # seconds for which new outputs may wait
        self._outputs = outputs
        self._finished = finished  # called by the thread when it has ended
        self._finishing = threading.Event()
        self._failure: Exception | None = None
        self._thread: threading.Thread | None = None
        self._done = True
        self._next_look = time.monotonic() + LOOK_EVERY

    def check(self) -> None:
        """Raise here what went wrong there. The thread is started once there is something for it to follow."""
        if self._failure is not None:
            raise self._failure
        if self._thread is None and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_EVERY
            self._start()

    def finish(self) -> None:
        """Upload everything as it is now."""
        self._finishing.set()
        if self._thread is None:
            self._start()

    def done(self) -> bool:
        return self._done

    def close(self) -> None:
        """Wait for the end of the thread, which has nothing to do any more."""
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        if all(each.empty() for each in self._outputs):
            return
        self._done = False
        self._thread = threading.Thread(target=self._work, name="outputs", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            while not self._finishing.wait(max(LOOK_EVERY, self.pace)):
                for each in self._outputs:
                    each.upload_settled()
            for each in self._outputs:
                each.upload_all()
        except Exception as failure:  # noqa: BLE001 - it is raised again by `check`
            self._failure = failure
        finally:
            self._done = True
            self._finished()
