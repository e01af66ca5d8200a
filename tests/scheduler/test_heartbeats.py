"""A run that is alive must not be shown as lost, nor one that is dead as running."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from runyard.scheduler import heartbeats
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.transitions import Transitions
from runyard.store.runs import runs
from runyard.store.runs.runs import NewRun

if TYPE_CHECKING:
    from tests.scheduler.conftest import Yard


def test_a_led_run_is_heard_of_through_the_run_that_leads_it(yard: Yard) -> None:
    """What the processes of a run say of its children, they say with its token."""
    store = yard.store
    with store.database.write() as connection:
        runs.create(connection, NewRun("script", "local", "trial", status="Running"))
        runs.create(connection, NewRun("child", "local", "trial", status="Running", kind="child", parent_id="script"))
    beats = Heartbeats(Transitions(store, lambda run: False))
    beats.expect("script")
    beats.expect("child", leader="script")

    def status_after_silence_of(*silent: str) -> str:
        for run_id in silent:
            beats._last[run_id] = time.monotonic() - heartbeats.SILENT_AFTER - 1
        beats.check()
        with store.database.read() as connection:
            return runs.get(connection, "child").status

    assert status_after_silence_of("child") == "Running"
    assert status_after_silence_of("child", "script") == "NotResponding"
