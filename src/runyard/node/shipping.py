"""The thread of a node runner that ships, and reports how the run went when everything else has been delivered."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Callable

from runyard.contracts import names
from runyard.contracts.plan import Plan
from runyard.node.courier import Courier, ServerAway, Unwanted
from runyard.node.facts import Fact
from runyard.node.follow import GrowingFile, LogFolder
from runyard.node.journals import Journals
from runyard.node.log import say
from runyard.node.removal import remove
from runyard.node.shipper import Shipper
from runyard.node.signals import Signals
from runyard.node.uploads import Outputs
from runyard.sdk.client import Locator

DELIVERED, UNWANTED, AWAY, BROKEN = "delivered", "unwanted", "away", "broken"

LEFT_FOR_LATER = 75  # EX_TEMPFAIL: everything is still in the run's folder, for a rescue
INTERNAL_FAULT = 70  # EX_SOFTWARE: the same, but it was not the server's fault


class Shipping:
    """Begins at once. With `resume`, a former node runner has sent some of what lies in the folder."""

    def __init__(self, plan: Plan, folder: Path, on_over: Callable[[], None], resume: bool = False) -> None:
        self.outcome: str | None = None  # one of the four above, once the thread is done
        self._on_over = on_over
        self._end: Fact | None = None
        server_file = Path(plan.server_file) if plan.server_file else None
        self._courier = Courier(plan.run_id, Locator(plan.server_url, plan.token, server_file), folder)
        self._own_log = GrowingFile(self._courier, folder / "streams/runner.log", "system_logs/runner.log", resume)
        self._warnings: list[dict[str, str]] = []
        self._shipper = self._assemble(plan, folder, resume)
        self._thread = threading.Thread(target=self._work, name="shipping", daemon=True)
        self._thread.start()

    @property
    def unwanted(self) -> bool:
        return self.outcome == UNWANTED

    def tell(self, fact: Fact) -> None:
        self._shipper.tell(fact)

    def finish(self, end: Fact) -> None:
        """Nothing more is written: deliver what is left, then report `end`."""
        self._end = end
        self._courier.nothing_more_to_come()
        self._shipper.nudge()

    def _assemble(self, plan: Plan, folder: Path, resume: bool) -> Shipper:
        work = folder / "work"
        std_log = GrowingFile(self._courier, folder / "streams/std_log.txt", "user_logs/std_log.txt", resume)
        build = GrowingFile(self._courier, folder / "streams/environment.log", "system_logs/environment.log", resume)
        sources: list[GrowingFile | LogFolder] = [build, std_log, self._own_log]
        for said in plan.launch.directories_to_watch:
            try:
                name = names.check_file(said)
            except names.BadName as error:
                self._warnings.append({"source": "node runner", "message": f"A folder is not watched: {error}"})
                continue
            if name != "outputs" or not plan.launch.output_collection:
                sources.append(LogFolder(self._courier, work / name, name, resume))
        outputs = Outputs(self._courier, work / "outputs", "outputs") if plan.launch.output_collection else None
        return Shipper(self._courier, Journals(self._courier, folder / "telemetry"), sources, outputs)

    def _work(self) -> None:
        try:
            self._shipper.follow(until=lambda: self._end is not None)
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
            self._on_over()

    def _report(self) -> None:
        assert self._end is not None
        warnings = [*self._warnings, *self._end.get("warnings", []), *self._shipper.warnings()]
        for warning in warnings:
            say(f"warning: {warning['message']}")
        say("everything is delivered")
        while self._own_log.ship():
            pass
        self._courier.fact({**self._end, "warnings": warnings})


def deliver(shipping: Shipping, end: Fact, folder: Path, signals: Signals) -> int:
    """Have everything delivered, report how the run ended, and remove its folder; returns the runner's exit code."""
    shipping.finish(end)
    while shipping.outcome is None:
        signals.wait(1.0)
    if shipping.outcome == AWAY:
        return LEFT_FOR_LATER
    if shipping.outcome == BROKEN:
        return INTERNAL_FAULT
    remove(folder)
    return 0
