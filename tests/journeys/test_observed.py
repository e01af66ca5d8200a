"""What is recorded beside the metrics of a run: where its memory went, and what it wrote for TensorBoard."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from azureml.core import Run
from runyard.cli.commands.views import top
from runyard.contracts.observed import load

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the numbers of the story are those of /proc"),
]

MIB = 1 << 20

GROWS = """
import resource, signal, sys, threading
from pathlib import Path
from azureml.core import Run
run = Run.get_context()
held = []
print("ready", flush=True)
for number in range(6):
    held.append(bytearray(b"x") * (30 << 20))
    run.log("cpu/node", number)
    threading.Event().wait(0.7)
while not Path("go").exists():
    threading.Event().wait(0.05)
import os
os.kill(os.getpid(), signal.SIGKILL)
"""

WRITES = """
import io, sys, threading
from pathlib import Path
from azureml.core import Run
from runyard.contracts.formats.event_files import EventFile, Scalar
run = Run.get_context()
def write(path, points):
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    EventFile(stream, 1.0).add(points)
    with path.open("ab") as file:
        file.write(stream.getvalue())
logs = Path("logs/events.out.tfevents.1.host")
write(logs, [Scalar("loss", 0.5, 0, 10.0)])
run.log("loss", 99.0)
while not Path("go").exists():
    threading.Event().wait(0.02)
write(logs, [Scalar("loss", float("nan"), 1, 11.0), Scalar("acc", 0.25, 1, 11.0)])
write(Path("outputs/validation/events.out.tfevents.2.host"), [Scalar("loss", 4.0, 7, 12.0)])
Path("logs/cut.tfevents").write_bytes(logs.read_bytes()[:-3])
Path("outputs/bad.tfevents").write_bytes(b"\\xff" * 100)
"""


def observed(run: Run, source: str) -> dict[str, Any]:
    path = f"/api/runs/{run.id}/metrics"
    found: list[dict[str, Any]] = run._service.get(path, {"source": source, "by_rank": True})["metrics"].get(run.id, [])
    assert all(each["source"] == source for each in found)
    return {each["name"]: each for each in found}


def test_a_run_that_was_killed_shows_how_its_memory_grew(
    shared_yard: Yard, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = shared_yard
    run = yard.submit(GROWS)
    yard.wait(lambda: len(observed(run, "system").get(load.MEMORY_RUN, {}).get("values", ())) >= 4, "four looks")
    monkeypatch.setenv("RUNYARD_HOME", str(yard.home))
    top.top(as_json=True)
    (shown,) = [each for each in json.loads(capsys.readouterr().out)["runs"] if each["id"] == run.id]
    assert shown["load"][0]["node"] == 0
    assert shown["load"][0]["values"][load.MEMORY_RUN] > 30 * MIB
    top.top(once=True)
    assert run.id in capsys.readouterr().out
    (yard.home / "runs" / run.id / "work" / "go").touch()
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Failed"
    found = observed(run, "system")
    curve = found[load.MEMORY_RUN]
    assert curve["nodes"] == [0]
    assert max(curve["values"]) - curve["values"][0] > 30 * MIB
    assert found[load.MEMORY_PEAK]["values"][-1] > 100 * MIB
    assert len(found[load.CPU]["values"]) >= 2
    assert found[load.CORES]["count"] == 1
    assert run.get_metrics() == {"cpu/node": [0, 1, 2, 3, 4, 5]}, "the run's own metric of that name, and nothing else"


def test_event_files_become_charts_and_stay_apart(shared_yard: Yard) -> None:
    yard = shared_yard
    run = yard.submit(WRITES)
    yard.wait(lambda: "loss" in observed(run, "events"), "what was written first, while the run goes on")
    assert run.get_status() == "Running"
    (yard.home / "runs" / run.id / "work" / "go").touch()
    run.wait_for_completion()
    found, nan = observed(run, "events"), {"f": "nan"}
    assert {name: (each["values"], each["steps"], each["times"]) for name, each in found.items()} == {
        "loss": ([0.5, nan, 0.5, nan], [0, 1, 0, 1], [10.0, 11.0, 10.0, 11.0]),  # a copy, cut off after these two
        "acc": ([0.25], [1], [11.0]),
        "validation/loss": ([4.0], [7], [12.0]),
    }
    assert run.get_metrics() == {"loss": 99.0}
    warnings = [each["message"] for each in run._service.get(f"/api/runs/{run.id}")["warnings"]]
    assert [text for text in warnings if text.startswith("outputs/bad.tfevents is not read any further")]
    assert "logs/events.out.tfevents.1.host" in run.get_file_names(), "the files stay what they are, for TensorBoard"


def test_both_can_be_switched_off(shared_yard: Yard, config: Callable[[str, str], None]) -> None:
    yard = shared_yard
    config("runs.system-metrics", "false")
    config("runs.event-files", "false")
    run = yard.submit(WRITES)
    yard.wait(lambda: run.get_metrics(), "the run's own metric")
    yard.wait(lambda: not (yard.home / "runs" / run.id / "observed").exists(), "nothing")
    (yard.home / "runs" / run.id / "work" / "go").touch()
    run.wait_for_completion()
    assert (observed(run, "system"), observed(run, "events")) == ({}, {})


@pytest.fixture
def config(shared_yard: Yard) -> Any:
    service = shared_yard.workspace.service
    changed: list[str] = []

    def put(key: str, value: str) -> None:
        service.put(f"/api/workspaces/local/settings/{key}", {"value": value})
        changed.append(key)

    yield put
    for key in changed:
        service.delete(f"/api/workspaces/local/settings/{key}")
