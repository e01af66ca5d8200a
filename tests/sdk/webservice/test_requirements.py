"""The parts of a service that SDK v1 has classes for keep their keys: code saves and loads them as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.requirements import (
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            ContainerResourceRequirements(1, 0.5, 1, 2, 1.5),
            {"cpu": 1, "cpuLimit": 2, "memoryInGB": 0.5, "memoryInGBLimit": 1.5, "gpu": 1},
        ),
        (
            AutoScaler(True, 10, 1, 5, 70),
            {
                "autoscaleEnabled": True,
                "maxReplicas": 10,
                "minReplicas": 1,
                "refreshPeriodInSeconds": 5,
                "targetUtilization": 70,
            },
        ),
        (
            LivenessProbeRequirements(10, 310, 2, 1, 3),
            {
                "periodSeconds": 10,
                "initialDelaySeconds": 310,
                "timeoutSeconds": 2,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
        ),
        (DataCollection(True, False), {"eventHubEnabled": True, "storageEnabled": False}),
    ],
)
def test_a_part_is_written_and_read_back(part: Any, told: dict[str, Any]) -> None:
    assert part.serialize() == told
    assert type(part).deserialize(told) == part
    assert type(part).deserialize(None) is None
    with pytest.raises(WebserviceException, match="from a dict, not from a list"):
        type(part).deserialize([])
