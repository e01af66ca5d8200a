"""The loop that follows what a run writes, and delivers it meanwhile: facts, logs, journals, outputs.

All that is new at one moment goes with one request (`reporter`). The server's receipts set the pace: somebody watches
the run, and what is new is looked for all the time; or nobody does, and it may wait. The node runner and the process
that delivers interactive runs (`interactive_delivery`) both use it; it knows nothing of processes.
"""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue
from typing import Callable, Protocol, Sequence

from runyard.contracts.delivery import PARTS_LIMIT, PATIENCE, Delivery
from runyard.node.delivery.batch import MOST_BYTES, Batch
from runyard.node.delivery.growing_files import CHUNK
from runyard.node.delivery.journals import End, Journals
from runyard.node.delivery.reporter import Receipt, Reporter
from runyard.node.delivery.retrying_client import RetryingClient
from runyard.node.delivery.settling import SettlingFolder
from runyard.node.delivery.uploads import Uploads
from runyard.node.delivery.wake import Wake
from runyard.node.facts import Fact, ended

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.1
FIRST_OUTPUT_WITHIN = 0.5  # seconds in which a script is likely to print its first line: somebody waits for that one
HEARTBEAT_EVERY = 10.0
LONGEST_SILENCE = PATIENCE + 2.0  # the server counts a run as lost 18 s after the end of a response that it held
GLANCE_EVERY = 0.5  # seconds between two glances at how much waits of a run that nobody watches
FACTS_WAIT = 0.1  # seconds in which the first output may come, or the end, to go with the facts
LAST_WAITS = 1.0  # seconds for which lines of the source that is delivered last wait for something to go with
AFTER_A_HOLD = 0.25  # seconds in which a server ends a response that it held, so that the connection can be used again
AFTER_A_BREAK = (0.05, 1.0)  # seconds until the next delivery when the server went away: not all runs at once


class Source(Protocol):
    """Something that grows and is followed."""

    @property
    def warnings(self) -> list[str]:
        """What could not be delivered of it."""

    def gather(self, batch: Batch) -> None:
        """Add what is new."""

    def gather_rest(self, batch: Batch) -> None:
        """Add the rest; nobody writes to it any more."""


class FollowLoop:
    """Follows everything of one run from one thread; the outputs, which may be large, from a second one.

    `last` is a source that may still grow when everything else is delivered; what it gains is not urgent. `along` is
    one that grows all the time: what it gains goes along with what is delivered anyway, heartbeats included, and is a
    reason to deliver only where somebody watches the run.
    """

    def __init__(
        self,
        client: RetryingClient,
        journals: Journals,
        sources: Sequence[Source] = (),
        outputs: Sequence[SettlingFolder] = (),
        heartbeats: bool = True,
        last: Source | None = None,
        along: Source | None = None,
    ) -> None:
        self._client, self._journals, self._outputs = client, journals, outputs
        self._sources: list[Source] = [journals, *sources]
        self._last = [last] if last is not None else []
        self._along = [along] if along is not None else []
        self._heartbeats = heartbeats
        self._reporter = Reporter(client)
        self._wake = Wake()
        self._uploads = Uploads(outputs, self._wake.set)
        self._facts: SimpleQueue[tuple[Fact, float]] = SimpleQueue()
        self._waiting: list[tuple[Fact, float]] = []  # facts, and when they were reported
        self._finishing = False  # from now on the server need not ask for anything
        self._turn = 0  # the source that is asked first
        self._unread: dict[int, str] = {}  # why a source could not be read when it was last tried
        now = time.monotonic()
        self._delivered_at, self._next_look, self._next_beat = now, now, now + HEARTBEAT_EVERY
        self._began, self._looked_at = now, 0.0
        self._pause = SHORTEST_PAUSE
        self._pace = 0.0  # until the server says otherwise, somebody may be watching
        self.end: End | None = None  # of the run itself, when its owner has written one

    def report(self, fact: Fact) -> None:
        """Report a fact, after those that were reported before; may be called from any thread."""
        self._facts.put((fact, time.monotonic()))
        self._wake.set()

    def nudge(self) -> None:
        """Ask again whether it is over; may be called from any thread."""
        self._wake.set()

    def follow(self, until: Callable[[], bool], ask_every: float | None = None) -> None:
        """Deliver what comes, until `until` is true, which is asked at every nudge, and at least every so often."""
        if not until():
            self._wake.listen(self._journals.folder)
        while not until():
            self._uploads.check()
            now = time.monotonic()
            if now >= self._due():
                self._look(now)
            wait = self._due() - time.monotonic()
            if self._pace:
                wait = min(wait, GLANCE_EVERY)
            self._rest(wait if ask_every is None else min(wait, ask_every))
            if self._pace and self._journals.piles_up():
                self._next_look = time.monotonic()  # else whoever flushes waits for all of it at once

    def deliver_rest(self) -> None:
        """Deliver everything that is there, now that nobody writes to it any more; the run's end is still to come."""
        self._upload_all()
        while True:
            batch = self._gather(rest=True)
            self._collect(self._last, batch, rest=True)
            complete = not batch.more and not self._journals.ending
            if not batch.parts and not self._waiting and complete:
                return
            self._deliver(batch)

    def beat(self) -> None:
        """Send the heartbeat, if it is due."""
        if self._heartbeats and time.monotonic() >= self._next_beat:
            self._deliver(Batch())

    def finish(self, report: Callable[[], Fact | None]) -> None:
        """Deliver everything that is there, now that nobody writes to it any more, and what `report` returns with the
        last of it. It is called again when something of that was not taken."""
        self._upload_all()
        while True:
            batch = self._gather(rest=True)
            if batch.more or self._journals.ending:
                self._deliver(batch)
                continue
            fact = report()
            self._collect(self._last, batch, rest=True)
            if batch.more:
                self._deliver(batch)
                continue
            nothing = fact is None and not batch.parts and not self._waiting
            if nothing or self._deliver(batch, [fact] if fact is not None else []):
                self._reporter.close()
                return

    def close(self) -> None:
        """Hear of nothing any more, now that all is delivered."""
        self._uploads.close()
        self._wake.close()

    def warnings(self) -> list[dict[str, str]]:
        """What could not be delivered, in the form of the protocol."""
        texts = [text for source in (*self._sources, *self._along, *self._last) for text in source.warnings]
        texts += [text for each in self._outputs for text in each.warnings]
        texts += self._unread.values()
        return [{"source": "shipper", "message": text} for text in texts]

    # -- when to deliver ---------------------------------------------------------------------------------------------

    def _due(self) -> float:
        """When to look for something to be delivered."""
        self._take_facts()
        due = self._next_look
        if self._waiting:
            due = min(due, self._waiting[0][1] + FACTS_WAIT)
        return min(due, self._next_beat) if self._heartbeats else due

    def _look(self, now: float) -> None:
        self._looked_at = now
        batch = self._gather()
        due = bool(self._waiting) and now >= self._waiting[0][1] + FACTS_WAIT
        due = due or (self._heartbeats and now >= self._next_beat)
        if batch.parts or due or now >= self._delivered_at + LAST_WAITS:
            self._collect(self._last, batch)
        if batch.parts or due or (not self._pace and now >= self._delivered_at + LAST_WAITS):
            self._collect(self._along, batch)
        if batch.parts or due:
            self._deliver(batch)
            self._pause = SHORTEST_PAUSE
        elif now > self._began + FIRST_OUTPUT_WITHIN:
            self._pause = min(self._pause * 1.5, LONGEST_PAUSE)
        after = time.monotonic()
        if batch.more:
            self._next_look = after
        elif self._pace:
            self._next_look = after + self._pace + (AFTER_A_HOLD if self._reporter.held else 0.0)
        else:
            # With thousands of files to look at, looking must not become a load of its own.
            self._next_look = after + (self._pause if batch.parts else max(self._pause, 10 * (after - now)))

    def _rest(self, seconds: float) -> None:
        held = self._reporter.held
        come = self._reporter.wait(max(0.0, seconds), self._wake.fileno())
        flush = self._wake.clear()
        now = time.monotonic()
        if come:
            # Somebody watches from now on. There may be nothing new, but the server asked.
            self._pace, self._pause, self._next_look, self._next_beat = 0.0, SHORTEST_PAUSE, now, now
        elif flush:
            self._next_look = max(now, self._looked_at + SHORTEST_PAUSE)
        elif held and not self._reporter.held:
            soon = now + _after_a_break() if self._reporter.broken else now
            self._next_look = min(self._next_look, soon)
            if now - self._delivered_at > 1.0:  # a response that never stays open is not asked for all the time
                self._next_beat = min(self._next_beat, soon)

    def _take_facts(self) -> None:
        while len(self._waiting) < PARTS_LIMIT:
            try:
                self._waiting.append(self._facts.get_nowait())
            except Empty:
                return

    # -- what to deliver ---------------------------------------------------------------------------------------------

    def _gather(self, rest: bool = False) -> Batch:
        """What is new of all sources but the last one."""
        self._take_facts()
        batch = Batch(CHUNK if self._reporter.too_large else MOST_BYTES)
        self._collect(self._sources[self._turn :] + self._sources[: self._turn], batch, rest)
        if batch.more:
            self._turn = (self._turn + 1) % len(self._sources)
        elif rest:
            self._collect(self._along, batch, rest)
        return batch

    def _collect(self, sources: Sequence[Source], batch: Batch, rest: bool = False) -> None:
        """What the script does to one of its files must not harm the others."""
        for source in sources:
            try:
                gather = source.gather_rest if rest else source.gather
                gather(batch)
            except OSError as error:
                self._unread[id(source)] = f"Something of the run could not be read: {error}."
            else:
                self._unread.pop(id(source), None)

    def _deliver(self, batch: Batch, after: Sequence[Fact] = ()) -> bool:
        """Deliver what was gathered, with the facts that were reported; whether all of it was taken."""
        self._take_facts()  # those too that were reported while it was gathered: they come before what was written then
        facts = [fact for fact, _ in self._waiting]
        receipt = self._reporter.deliver(Delivery(facts, batch.parts, list(after), hold=not self._finishing))
        self._waiting = []
        batch.take(receipt.parts)
        self._keep_pace(receipt)
        for end in self._journals.take_ends():
            if end.run_id == self._client.run_id:
                self.end = end
            else:
                self._client.fact(ended(end.outcome, end.error), end.run_id)
        return receipt.complete

    def _keep_pace(self, receipt: Receipt) -> None:
        now = time.monotonic()
        self._pace = self._uploads.pace = receipt.pace
        self._delivered_at = now
        silence = max(HEARTBEAT_EVERY, receipt.pace, receipt.held + AFTER_A_HOLD)
        self._next_beat = now + min(silence, LONGEST_SILENCE)

    def _upload_all(self) -> None:
        """Upload the outputs as they are now; everything else is delivered meanwhile."""
        self._finishing = True
        self._uploads.finish()
        while not self._uploads.done():
            batch = self._gather()
            if batch.parts or self._waiting:
                self._deliver(batch)
            self.beat()
            if not batch.more:
                self._wait_for_uploads()
        self._uploads.check()

    def _wait_for_uploads(self) -> None:
        if not self._uploads.done():
            self._reporter.wait(max(0.0, self._next_beat - time.monotonic()), self._wake.fileno())
            self._wake.clear()


def _after_a_break() -> float:
    import random  # here: it draws new numbers in every process that is forked, and few need one

    return random.uniform(*AFTER_A_BREAK)
