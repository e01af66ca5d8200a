"""Every node of a run records itself: with one node missing, its memory would be nowhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.observed import load

if TYPE_CHECKING:
    from tests.node.conftest import Gang, RunOnServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the numbers of the story are those of /proc")

WAITS = """
import os, time
print('ready', flush=True)
while not os.path.exists({go!r}): time.sleep(0.05)
"""


def nodes_seen(run: RunOnServer, name: str) -> dict[int, list[float]]:
    asked: dict[str, str | bool] = {"source": "system", "name": name, "by_rank": True}
    found = run.server.client.get(f"/api/runs/{run.id}/metrics", asked)["metrics"].get(run.id, [])
    return {each["nodes"][0]: each["values"] for each in found}


def test_each_node_of_a_gang_records_itself(
    gang: Callable[..., Gang], tmp_path: Path, until: Callable[[Callable[[], object], str], None]
) -> None:
    go = tmp_path / "go"
    made = gang(
        {"train.py": WAITS.format(go=str(go))},
        Distribution(nodes=2, processes=2),
        plan={"observe": ["system", "events"]},
    )
    made.start()
    for rank in (0, 1):
        made.wait_for_output(rank, "ready")
    until(lambda: set(nodes_seen(made.run, load.MEMORY_RUN)) == {0, 1}, "both nodes")
    go.touch()
    assert made.wait()["status"] == "Completed"
    assert set(nodes_seen(made.run, load.MEMORY_PEAK)) == {0, 1}
    assert all(value > 0 for values in nodes_seen(made.run, load.MEMORY_RUN).values() for value in values[:1])
