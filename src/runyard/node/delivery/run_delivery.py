"""The thread of a node runner that ships, and reports how the run went when everything else has been delivered."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Iterator

from runyard.contracts import history, names
from runyard.contracts.distribution import MPI
from runyard.contracts.plan import Plan
from runyard.node.delivery.follow_loop import HEARTBEAT_EVERY, Shipper
from runyard.node.delivery.growing_files import GrowingFile, LogFolder
from runyard.node.delivery.journals import Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.removal import remove
from runyard.node.delivery.retrying_client import Courier, ServerAway, Unwanted
from runyard.node.facts import Fact
from runyard.node.log import say
from runyard.node.signals import Signals

DELIVERED, UNWANTED, AWAY, BROKEN = "delivered", "unwanted", "away", "broken"

LEFT_FOR_LATER = 75  # EX_TEMPFAIL: everything is still in the run's folder, for a rescue
INTERNAL_FAULT = 70  # EX_SOFTWARE: the same, but it was not the server's fault


class Shipping:
    """Begins at once. With `resume`, a former node runner has sent some of what lies in the folder. With
    `shares_work`, the working folder is that of node 0, whose runner keeps what is written there."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        signals: Signals,
        resume: bool = False,
        shares_work: bool = False,
    ) -> None:
        self.outcome: str | None = None  # one of the four above, once the thread is done
        self._signals = signals
        self._finishing = threading.Event()
        self._end: Fact | None = None
        self._may_report = threading.Event()
        self._may_report.set()
        self._courier = Courier.of(plan, folder)
        self._warnings: list[dict[str, str]] = []
        own = GrowingFile(self._courier, folder / "streams/runner.log", history.system_log("runner", plan.node), resume)
        self._own_log = own
        self._shipper = self._assemble(plan, folder, resume, shares_work)
        self._thread = threading.Thread(target=self._work, name="shipping", daemon=True)
        self._thread.start()

    @property
    def unwanted(self) -> bool:
        return self.outcome == UNWANTED

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What could not be delivered."""
        return [*self._warnings, *self._shipper.warnings()]

    def tell(self, fact: Fact) -> None:
        self._shipper.tell(fact)

    def finish(self, end: Fact | None) -> None:
        """Nothing more is written: deliver what is left, then report `end`, if there is one to be reported."""
        self._end = end
        self._finishing.set()
        self._courier.nothing_more_to_come()
        self._shipper.nudge()

    def hold_report(self) -> None:
        """The end is not to be reported before `release_report`, however early all is delivered."""
        self._may_report.clear()

    def release_report(self, warnings: list[dict[str, str]]) -> None:
        """The end may be reported, with these warnings in addition."""
        self._warnings += warnings
        self._may_report.set()

    def _assemble(self, plan: Plan, folder: Path, resume: bool, shares_work: bool) -> Shipper:
        sources: list[GrowingFile | LogFolder] = []
        for path, name in _streams(plan, folder):
            sources.append(GrowingFile(self._courier, path, name, resume))
        sources.append(self._own_log)
        outputs = None
        if not shares_work:
            sources += self._log_folders(plan, folder / "work", resume)
            if plan.launch.output_collection:
                outputs = Outputs(self._courier, folder / "work" / "outputs", kept_as(plan, "outputs"))
        journals = Journals(self._courier, folder / "telemetry")
        return Shipper(self._courier, journals, sources, outputs, heartbeats=plan.node == 0)

    def _log_folders(self, plan: Plan, work: Path, resume: bool) -> Iterator[LogFolder]:
        for said in plan.launch.directories_to_watch:
            try:
                name = names.check_file(said)
            except names.BadName as error:
                self._warnings.append({"source": "node runner", "message": f"A folder is not watched: {error}"})
                continue
            if name != "outputs" or not plan.launch.output_collection:
                yield LogFolder(self._courier, work / name, kept_as(plan, name), resume)

    def _work(self) -> None:
        try:
            self._shipper.follow(until=lambda: self._finishing.is_set() or self._courier.superseded)
            self._await_end_of_superseded()
            self._shipper.finish()
            self._report()
            self.outcome = DELIVERED
        except Unwanted as why:
            say(f"nobody waits for this run any more: {why}")
            self.outcome = UNWANTED
        except ServerAway as why:
            say(f"left for later: {why}")
            self.outcome = AWAY
        except Exception:  # noqa: BLE001 - the script goes on; a rescue delivers what is left
            say(f"shipping failed:\n{traceback.format_exc()}")
            self.outcome = BROKEN
        finally:
            self._signals.wake()

    def _await_end_of_superseded(self) -> None:
        """A node that was cut off, while the run was started again elsewhere: what goes on here is ended, as if that
        had been asked for, and delivered."""
        if not self._finishing.is_set():
            say("another attempt of this run is under way: this one is ended")
            self._signals.ask_to_stop()
            self._shipper.follow(until=self._finishing.is_set)

    def _report(self) -> None:
        while not self._may_report.wait(HEARTBEAT_EVERY):
            self._courier.fact({"fact": "heartbeat"})
        warnings = [*((self._end or {}).get("warnings", [])), *self.warnings]
        for warning in warnings:
            say(f"warning: {warning['message']}")
        say("everything is delivered")
        while self._own_log.ship():
            pass
        if self._end is not None:
            self._courier.fact({**self._end, "warnings": warnings})


def kept_as(plan: Plan, name: str) -> str:
    """The name in the run's history of a folder in the working folder of this plan's node, which is its own."""
    return f"{name}/node_{plan.node}" if plan.node else name


def _streams(plan: Plan, folder: Path) -> Iterator[tuple[Path, str]]:
    """The files below `streams`, but for the runner's own, and what they are called in the run's history."""
    streams = folder / "streams"
    yield streams / history.ENVIRONMENT_LOG, history.system_log("environment", plan.node)
    distribution = plan.distribution
    if not distribution.gang:
        yield streams / history.SCRIPT_LOG, history.user_log(history.SCRIPT_LOG)
        return
    for each in distribution.ranks():
        if each.node == plan.node:
            log = history.rank_log(each.rank)
            yield streams / log, history.user_log(log)
    if distribution.kind == MPI:
        yield streams / "mpirun.log", history.system_log("mpirun", plan.node)


def deliver(shipping: Shipping, end: Fact | None, folder: Path, signals: Signals) -> int:
    """Have everything delivered, report how the run ended, and remove its folder; returns the runner's exit code."""
    shipping.finish(end)
    return await_delivery(shipping, folder, signals)


def await_delivery(shipping: Shipping, folder: Path, signals: Signals) -> int:
    """Wait for the end of what `finish` began, and remove the folder; returns the runner's exit code."""
    while shipping.outcome is None:
        signals.wait(1.0)
    if shipping.outcome == AWAY:
        return LEFT_FOR_LATER
    if shipping.outcome == BROKEN:
        return INTERNAL_FAULT
    remove(folder)
    return 0
