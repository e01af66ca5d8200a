"""Sweeps over the fake cluster: the test says what each child logs, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scheduler.conftest import Yard, wait

from runyard.contracts.journal import line
from runyard.contracts.states import TERMINAL
from runyard.contracts.sweeps.sweep import Sweep
from runyard.scheduler import gangs, launcher, states, worker
from runyard.scheduler.states import Fact
from runyard.store.assets import sweeps
from runyard.store.content import files
from runyard.store.metrics import journals
from runyard.store.runs import runs
from runyard.store.runs.records import SWEEP, NewRun


class SweepYard(Yard):
    def sweep(self, run_id: str = "HD_1", **asked: Any) -> None:
        usual: dict[str, Any] = {
            "sampling": {"name": "GRID", "parameter_space": {"x": ["choice", [list(range(100))]]}},
            "metric": "acc",
            "goal": "maximize",
            "runs": 4,
            "at_once": 2,
        }
        launch = {"script": "train.py", "arguments": ["--fixed", "1"], "restarts": 3, "distribution": {}}
        new = NewRun(run_id, "local", "trial", kind=SWEEP, type="hyperdrive", target="hpc", launch=launch)
        with self.store.database.write() as connection:
            made = runs.create(connection, new)
            sweeps.create(connection, run_id, Sweep.from_dict({**usual, **asked}), {"of": "child"})
        self.scheduler.submitted(made)

    def children(self, run_id: str = "HD_1") -> list[str]:
        with self.store.database.read() as connection:
            return sorted(runs.descendants(connection, run_id), key=lambda each: int(each.rpartition("_")[2]))

    def under_way(self, run_id: str = "HD_1") -> list[str]:
        return [each for each in self.children(run_id) if self.run(each).status not in TERMINAL]

    def started(self, count: int, run_id: str = "HD_1") -> list[str]:
        """Wait until so many children were started on the cluster."""
        begun = self.clusters["hpc"].alive
        wait(lambda: len([each for each in self.children(run_id) if each in begun]) >= count, f"for {count} children")
        return self.children(run_id)

    def placed(self, run_id: str) -> None:
        """Wait until one child was started on the cluster."""
        wait(lambda: run_id in self.clusters["hpc"].alive, f"for {run_id}")

    def log(self, run_id: str, *values: Any) -> None:
        """As a node runner delivers it."""
        data = b"".join(line("v", "acc", value, 1.0, None) for value in values)
        with self.store.database.write() as connection:
            offset = journals.confirmed(connection, run_id, "w")
            journals.accept(connection, run_id, "w", offset, data)
        self.scheduler.sweeps.delivered(run_id, "w", offset, data)

    def end(self, run_id: str, outcome: str = "completed") -> None:
        error = {"code": "ScriptFailed", "message": "no"} if outcome == "failed" else None
        stopped = outcome == "canceled"
        self.scheduler.report(run_id, Fact(states.STARTED))
        self.scheduler.report(run_id, Fact(states.ENDED, outcome=outcome, error=error, stopped=stopped))
        self.clusters["hpc"].gone(run_id)

    def log_text(self, run_id: str = "HD_1") -> str:
        with self.store.database.read() as connection:
            entry = files.get(connection, run_id, "azureml-logs/hyperdrive.txt")
        if entry.digest is not None:
            with self.store.objects.open(entry.digest) as file:
                return file.read().decode()
        assert entry.growing is not None
        return (self.store.growing.folder / str(entry.growing)).read_text("utf-8")

    def trials(self, run_id: str = "HD_1") -> list[sweeps.StoredTrial]:
        with self.store.database.read() as connection:
            return sweeps.find_trials(connection, run_id)


@pytest.fixture
def yard(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SweepYard]:
    for module in (launcher, worker, gangs):
        monkeypatch.setattr(module, "RETRY_AFTER", 0.05)
    yard = SweepYard(home)
    yard.start()
    try:
        yield yard
    finally:
        yard.close()
