"""Pools of nodes for the tests of compute targets."""

from __future__ import annotations

from typing import Any

from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.workspace.workspace import Workspace

DEADLINE = 120.0


def cluster(workspace: Workspace, name: str, **settings: Any) -> AmlCompute:
    made = ComputeTarget.create(
        workspace,
        name,
        AmlCompute.provisioning_configuration(**{"max_nodes": 2, "vm_size": "STANDARD_NC6", **settings}),
    )
    assert isinstance(made, AmlCompute)
    return made
