"""Pools of nodes for the tests of compute targets."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.workspace.workspace import Workspace

DEADLINE = 120.0


def wait_for(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + DEADLINE
    while not (found := what()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


def cluster(workspace: Workspace, name: str, **settings: Any) -> AmlCompute:
    made = ComputeTarget.create(
        workspace,
        name,
        AmlCompute.provisioning_configuration(**{"max_nodes": 2, "vm_size": "STANDARD_NC6", **settings}),
    )
    assert isinstance(made, AmlCompute)
    return made
