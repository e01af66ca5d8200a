"""What preparing a run finds out is in a journal of the run, whether its folder was there or not."""

from __future__ import annotations

import json
from pathlib import Path

from runyard.contracts import journal
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare.recording import record


def test_properties_are_recorded_for_the_run_and_the_attempt(tmp_path: Path) -> None:
    names = ("root_run_id", "experiment", "experiment_id", "workspace", "subscription_id", "resource_group", "target")
    known = dict.fromkeys((*names, "token", "server_url"), "x")
    plan = Plan(run_id="run_1", **known, launch=Launch(), attempt=2)  # type: ignore[arg-type]
    record(plan, tmp_path, "environment", {"key": "ü"})
    record(plan, tmp_path, "environment", {"other": "1"})
    (file,) = (tmp_path / "telemetry" / "journal").iterdir()
    assert journal.parse_file_name(file.name) == ("run_1", "environment-2")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines == [[journal.PROPERTIES, {"key": "ü"}], [journal.PROPERTIES, {"other": "1"}]]
