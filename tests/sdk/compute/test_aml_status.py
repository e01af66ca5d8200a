"""The status of an AmlCompute survives its dictionary."""

from __future__ import annotations

from runyard.sdk.compute.aml_status import AmlComputeNodeStateCounts, AmlComputeStatus, ScaleSettings


def test_a_status_as_a_dictionary() -> None:
    status = AmlComputeStatus(
        allocation_state="Resizing",
        allocation_state_transition_time="t",
        creation_time="c",
        current_node_count=1,
        errors=None,
        modified_time="m",
        node_state_counts=AmlComputeNodeStateCounts(1, 0, 0, 0, 2, 0),
        provisioning_state="Succeeded",
        provisioning_state_transition_time=None,
        scale_settings=ScaleSettings(0, 4, 1800),
        target_node_count=2,
        vm_priority="dedicated",
        vm_size="STANDARD_NC6",
    )
    found = status.serialize()
    assert found["nodeStateCounts"]["runningNodeCount"] == 2
    assert found["scaleSettings"] == {"minNodeCount": 0, "maxNodeCount": 4, "nodeIdleTimeBeforeScaleDown": "PT1800S"}
    assert AmlComputeStatus.deserialize(found) == status
    assert AmlComputeStatus.deserialize(None) is None
    assert ScaleSettings.deserialize(None) is None
    assert AmlComputeNodeStateCounts.deserialize(None) is None
