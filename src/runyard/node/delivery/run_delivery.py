"""What a node runner delivers, in a thread of its own, and reports how the run ended once all else is delivered.

A run that ends before it has written anything needs no such thread: then the main thread delivers all of it.
"""

from __future__ import annotations

import gc
import os
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Iterator

from runyard.contracts import history, journal, names
from runyard.contracts.distribution import MPI
from runyard.contracts.plan import OBSERVED, Plan
from runyard.node.delivery.event_files import EventFiles
from runyard.node.delivery.follow_loop import FACTS_WAIT, HEARTBEAT_EVERY, SHORTEST_PAUSE, FollowLoop, Source
from runyard.node.delivery.growing_files import GrowingFile, LogFolder
from runyard.node.delivery.journals import Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.removal import remove
from runyard.node.delivery.retrying_client import RetryingClient, ServerAway
from runyard.node.delivery.settling import SettlingFolder
from runyard.node.facts import Fact
from runyard.node.log import log_line
from runyard.node.problem import Unwanted
from runyard.node.signals import Signals
from runyard.node.streams import ENVIRONMENT_LOG, MPIRUN_LOG, RUNNER_LOG, std_log

if TYPE_CHECKING:
    from runyard.node.delivery.data_outputs import DataOutput

DELIVERED, UNWANTED, AWAY, BROKEN = "delivered", "unwanted", "away", "broken"

LEFT_FOR_LATER = 75  # EX_TEMPFAIL: everything is still in the run's folder, for a rescue
INTERNAL_FAULT = 70  # EX_SOFTWARE: the same, but it was not the server's fault


class RunDelivery:
    """Begins at once, unless it is `patient`. With `resume`, a former node runner has sent some of what is in the
    folder. With `shares_work`, the working folder is that of node 0, whose runner delivers what is written there."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        signals: Signals,
        resume: bool = False,
        shares_work: bool = False,
        patient: bool = False,
    ) -> None:
        self.outcome: str | None = None  # one of the four above, once the thread is done
        self._signals = signals
        self._finishing = threading.Event()
        self._end: Fact | None = None
        self._may_report = threading.Event()
        self._may_report.set()
        self._client = RetryingClient.of(plan, folder)
        self._warnings: list[dict[str, str]] = []
        self._logged: list[dict[str, str]] = []
        self._plan = plan
        self._data: list[DataOutput] = []
        if plan.launch.outputs:
            from runyard.node.delivery.data_outputs import data_outputs

            self._data = data_outputs(self._client, plan, folder, resume, shares_work)
        self._loop = self._assemble(plan, folder, resume, shares_work)
        self._written = [str(path) for path, _ in _streams(plan, folder)]
        self._journal = str(folder / "telemetry" / "journal")
        self._patient_until = time.monotonic() + FACTS_WAIT
        self._thread: threading.Thread | None = None
        if not patient:
            self.begin()

    def begin(self) -> None:
        """Deliver from now on, in a thread."""
        if self._thread is None:
            gc.enable()  # the run may be a long one; the nursery has its runners begin without
            self._thread = threading.Thread(target=self._work, name="delivery", daemon=True)
            self._thread.start()

    @property
    def begun(self) -> bool:
        """Whether there is a thread that delivers."""
        return self._thread is not None

    def begin_when_due(self) -> float:
        """Begin if the run has written something, or if it goes on for longer than its first facts may wait. Returns
        the seconds after which this is to be asked again."""
        if self._thread is None:
            wrote = any(map(_has_content, self._written)) or _has_entries(self._journal)
            if not wrote and time.monotonic() < self._patient_until:
                return SHORTEST_PAUSE
            self.begin()
        return HEARTBEAT_EVERY

    @property
    def unwanted(self) -> bool:
        return self.outcome == UNWANTED

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What could not be delivered."""
        return [*self._warnings, *self._loop.warnings()]

    def report(self, fact: Fact) -> None:
        self._loop.report(fact)

    def finish(self, end: Fact | None) -> None:
        """Nothing more is written: deliver what is left, then report `end`, if there is one to be reported. Where no
        thread has begun to, this returns when it is done."""
        self._end = end
        self._finishing.set()
        self._client.nothing_more_to_come()
        if self._thread is not None:
            self._loop.nudge()
        elif self.outcome is None:
            self._work()

    def close(self) -> None:
        """Leave nothing open, where all is delivered."""
        if self.outcome == DELIVERED:
            if self._thread is not None:
                self._thread.join()
            self._loop.close()

    def hold_report(self) -> None:
        """The end is not to be reported before `release_report`, however early all is delivered."""
        self.begin()
        self._may_report.clear()

    def release_report(self, warnings: list[dict[str, str]]) -> None:
        """The end may be reported, with these warnings in addition."""
        self._warnings += warnings
        self._may_report.set()

    def _assemble(self, plan: Plan, folder: Path, resume: bool, shares_work: bool) -> FollowLoop:
        sources: list[Source] = []
        for path, name in _streams(plan, folder):
            sources.append(GrowingFile(path, name, resume))
        outputs: list[SettlingFolder] = list(self._data)
        if not shares_work:
            sources += self._log_folders(plan, folder / "work", resume)
            if journal.EVENTS in plan.observe:
                folders = [folder / "work" / name for name in ("logs", "outputs")]
                sources.append(EventFiles(folders, folder / "telemetry", plan.run_id))
            if plan.launch.output_collection:
                outputs.append(Outputs(self._client, folder / "work" / "outputs", history_name(plan, "outputs")))
        journals = Journals(self._client, folder / "telemetry")
        own_log = GrowingFile(folder / "streams" / RUNNER_LOG, history.system_log(RUNNER_LOG, plan.node), resume)
        along = Journals(self._client, folder / OBSERVED) if journal.SYSTEM in plan.observe else None
        return FollowLoop(self._client, journals, sources, outputs, plan.node == 0, own_log, along)

    def _log_folders(self, plan: Plan, work: Path, resume: bool) -> Iterator[LogFolder]:
        for each in plan.launch.directories_to_watch:
            try:
                name = names.check_file(each)
            except names.BadName as error:
                self._warnings.append({"source": "node runner", "message": f"A folder is not watched: {error}"})
                continue
            if name != "outputs" or not plan.launch.output_collection:
                yield LogFolder(work / name, history_name(plan, name), resume)

    def _work(self) -> None:
        try:
            self._loop.follow(until=lambda: self._finishing.is_set() or self._client.superseded)
            self._await_end_of_superseded()
            self._await_report()
            self._tell_of_data()
            self._loop.finish(self._report)
            self.outcome = DELIVERED
        except Unwanted as why:
            log_line(f"nobody waits for this run any more: {why}")
            self.outcome = UNWANTED
        except ServerAway as why:
            log_line(f"left for later: {why}")
            self.outcome = AWAY
        except Exception:  # noqa: BLE001 - the script goes on; a rescue delivers what is left
            log_line(f"the delivery failed:\n{traceback.format_exc()}")
            self.outcome = BROKEN
        finally:
            self._signals.wake()

    def _await_end_of_superseded(self) -> None:
        """This node was cut off, and the run was started again elsewhere: what runs here is stopped and delivered."""
        if not self._finishing.is_set():
            log_line("another attempt of this run is under way: this one is ended")
            self._signals.request_stop()
            self._loop.follow(until=self._finishing.is_set)

    def _await_report(self) -> None:
        if not self._may_report.is_set():
            self._loop.deliver_rest()
            while not self._may_report.wait(HEARTBEAT_EVERY):
                self._loop.beat()

    def _tell_of_data(self) -> None:
        """Have the data that the run has written become datasets, once all of it is delivered and before it ends."""
        if self._plan.launch.outputs and self._end is not None:
            from runyard.node.delivery.data_outputs import tell

            self._loop.deliver_rest()
            self._end = tell(self._client, self._plan, self._data, self._end)

    def _report(self) -> Fact | None:
        """The end of the run, if it is to be reported from here. The last lines of the log go with it."""
        warnings = [*((self._end or {}).get("warnings", [])), *self.warnings]
        for warning in warnings:
            if warning not in self._logged:
                log_line(f"warning: {warning['message']}")
        if not self._logged:
            log_line("delivering the last of it")
        self._logged = [*warnings, {}]
        return None if self._end is None else {**self._end, "warnings": warnings}


def _has_content(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _has_entries(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def history_name(plan: Plan, name: str) -> str:
    """The name in the run's history of a folder in the working folder of this plan's node, which is its own."""
    return f"{name}/node_{plan.node}" if plan.node else name


def _streams(plan: Plan, folder: Path) -> Iterator[tuple[Path, str]]:
    """The files in `streams`, but for the runner's own, and their names in the run's history."""
    streams, distribution = folder / "streams", plan.distribution
    yield streams / ENVIRONMENT_LOG, history.system_log(ENVIRONMENT_LOG, plan.node)
    for each in distribution.ranks():
        if each.node == plan.node:
            name = std_log(distribution, each.rank)
            yield streams / name, history.user_log(name)
    if distribution.kind == MPI:
        yield streams / MPIRUN_LOG, history.system_log(MPIRUN_LOG, plan.node)


def deliver(delivery: RunDelivery, end: Fact | None, folder: Path, signals: Signals) -> int:
    """Have everything delivered, report how the run ended, and remove its folder; returns the runner's exit code."""
    delivery.finish(end)
    return await_delivery(delivery, folder, signals)


def await_delivery(delivery: RunDelivery, folder: Path, signals: Signals) -> int:
    """Wait for the end of what `finish` began, and remove the folder; returns the runner's exit code."""
    while delivery.outcome is None:
        signals.wait(1.0)
    if delivery.outcome == AWAY:
        return LEFT_FOR_LATER
    if delivery.outcome == BROKEN:
        return INTERNAL_FAULT
    remove(folder)
    return 0
