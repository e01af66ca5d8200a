"""Pools of nodes: they come, are counted and go, and wait for no more than they were made for."""

from __future__ import annotations

import pytest
from tests.sdk.compute.targets import cluster
from tests.support.waiting import wait_until

from runyard.sdk.workspace.workspace import Workspace


def test_nodes_come_and_are_counted(workspace: Workspace, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = cluster(workspace, name, min_nodes=1)
    made.wait_for_completion(show_output=True, min_node_count=2, timeout_in_minutes=2)
    assert f"{name} is ready. It keeps 1 nodes, and grows up to 2" in capsys.readouterr().out
    status = made.get_status()
    assert (status.current_node_count, status.allocation_state, status.errors) == (1, "Steady", None)
    assert status.node_state_counts is not None
    assert status.node_state_counts.idle_node_count == 1
    (node,) = made.list_nodes()
    assert (node["nodeState"], node["runId"]) == ("idle", None)
    made.update(min_nodes=0, max_nodes=3, idle_seconds_before_scaledown=0)
    assert made.scale_settings.serialize() == {
        "minNodeCount": 0,
        "maxNodeCount": 3,
        "nodeIdleTimeBeforeScaleDown": "PT0S",
    }
    wait_until(lambda: made.get_status().current_node_count == 0)
