"""Configurations of Kubernetes clusters are checked, though none can be attached yet."""

from __future__ import annotations

import pytest

from runyard.sdk.compute.kubernetes import KubernetesCompute
from runyard.sdk.exceptions import ComputeTargetException


def test_kubernetes_checks() -> None:
    with pytest.raises(ComputeTargetException, match="resource_id is required"):
        KubernetesCompute.attach_configuration()
    with pytest.raises(ComputeTargetException, match="needs identity_ids"):
        KubernetesCompute.attach_configuration("/id", identity_type="UserAssigned")
    configuration = KubernetesCompute.attach_configuration("/id", "space")
    assert configuration.to_dict()["properties"] == {"namespace": "space"}
