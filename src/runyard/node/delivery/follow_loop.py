"""The loop that follows what a run writes, and uploads it meanwhile: facts, logs, journals, outputs.

The node runner and the process that delivers interactive runs (`interactive_delivery`) both use it; it knows nothing of
processes.
"""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import Callable, Protocol, Sequence

from runyard.node.delivery.journals import End, Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.retrying_client import RetryingClient
from runyard.node.facts import Fact, ended

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.25
HEARTBEAT_EVERY = 10.0
LOOK_AT_OUTPUTS_EVERY = 1.0


class Source(Protocol):
    """Something that grows and is followed."""

    @property
    def warnings(self) -> list[str]:
        """What could not be delivered of it."""

    def send_new(self) -> bool:
        """Send what is new; True when there was any."""

    def send_rest(self) -> None:
        """Send the rest; nobody writes to it any more."""


class FollowLoop:
    """Follows everything of one run from one thread; the outputs, which may be large, from a second one."""

    def __init__(
        self,
        client: RetryingClient,
        journals: Journals,
        sources: Sequence[Source] = (),
        outputs: Outputs | None = None,
        heartbeats: bool = True,
    ) -> None:
        self._client, self._journals, self._sources, self._outputs = client, journals, sources, outputs
        self._heartbeats = heartbeats
        self._facts: SimpleQueue[Fact] = SimpleQueue()
        self._last_beat = time.monotonic()
        self._nudge = threading.Event()
        self._uploads = _Uploads(outputs)
        self._unread: dict[int, str] = {}  # why a source could not be read when it was last tried
        self.end: End | None = None  # of the run itself, when its owner has written one

    def report(self, fact: Fact) -> None:
        """Report a fact, after those that were reported before; may be called from any thread."""
        self._facts.put(fact)
        self._nudge.set()

    def nudge(self) -> None:
        """Look again at once; may be called from any thread."""
        self._nudge.set()

    def follow(self, until: Callable[[], bool]) -> None:
        """Upload what comes, until `until` is true."""
        pause = SHORTEST_PAUSE
        self._uploads.start()
        while not until():
            began = time.monotonic()
            moved = self._look()
            self._uploads.check()
            pause = SHORTEST_PAUSE if moved else min(pause * 1.5, LONGEST_PAUSE)
            # With thousands of files to look at, looking must not become a load of its own.
            self._nudge.wait(pause if moved else max(pause, 10 * (time.monotonic() - began)))
            self._nudge.clear()

    def finish(self) -> None:
        """Upload everything that is there, now that nobody writes to it any more."""
        self._uploads.finish()
        while self._look():
            pass
        for number, source in enumerate(self._sources, 1):
            self._read(number, source.send_rest)
        while not self._uploads.done(HEARTBEAT_EVERY):
            self._beat()
        self._uploads.check()

    def warnings(self) -> list[dict[str, str]]:
        """What could not be delivered, in the form of the protocol."""
        texts = [*self._journals.warnings, *(text for source in self._sources for text in source.warnings)]
        texts += self._outputs.warnings if self._outputs is not None else []
        texts += self._unread.values()
        return [{"source": "shipper", "message": text} for text in texts]

    def _look(self) -> bool:
        reported = self._send_facts()
        reads = [self._journals.send_new, *[source.send_new for source in self._sources]]
        moved = [self._read(number, read) for number, read in enumerate(reads)]
        for end in self._journals.take_ends():
            if end.run_id == self._client.run_id:
                self.end = end
            else:
                self._client.fact(ended(end.outcome, end.error), end.run_id)
        self._beat()
        return reported or any(moved)

    def _read(self, source: int, read: Callable[[], bool | None]) -> bool:
        """Read one source. What the script does to one of its files must not harm the others."""
        try:
            moved = bool(read())
        except OSError as error:
            self._unread[source] = f"Something of the run could not be read: {error}."
            return False
        self._unread.pop(source, None)
        return moved

    def _send_facts(self) -> bool:
        reported = False
        while True:
            try:
                fact = self._facts.get_nowait()
            except Empty:
                return reported
            self._client.fact(fact)
            reported = True

    def _beat(self) -> None:
        if self._heartbeats and time.monotonic() - self._last_beat >= HEARTBEAT_EVERY:
            self._client.fact({"fact": "heartbeat"})
            self._last_beat = time.monotonic()


class _Uploads:
    """The thread that uploads outputs: what has settled, and everything after `finish`."""

    def __init__(self, outputs: Outputs | None) -> None:
        self._outputs = outputs
        self._finishing = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="outputs", daemon=True)

    def start(self) -> None:
        if self._outputs is not None and self._thread.ident is None:
            self._thread.start()

    def finish(self) -> None:
        self._finishing.set()
        self.start()

    def done(self, seconds: float) -> bool:
        """Wait for the thread, up to `seconds`; True when it has ended."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def check(self) -> None:
        """Raise here what went wrong there."""
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        assert self._outputs is not None
        try:
            while not self._finishing.wait(LOOK_AT_OUTPUTS_EVERY):
                self._outputs.upload_settled()
            self._outputs.upload_all()
        except Exception as failure:  # noqa: BLE001 - it is raised again by `check`
            self._failure = failure
