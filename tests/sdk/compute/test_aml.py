"""The configuration of an AmlCompute: its checks are those of SDK v1, and what it becomes on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.compute import Target
from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.aml_status import ScaleSettings
from runyard.sdk.exceptions import ComputeTargetException

NETWORK = {"vnet_resourcegroup_name": "g", "vnet_name": "v", "subnet_name": "s"}


def test_the_configuration_of_the_pages() -> None:
    configuration = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=4)
    assert configuration.scale_settings == ScaleSettings(0, 4, 1800)
    assert configuration._target("gpu-cluster") == Target("gpu-cluster", vm_size="STANDARD_NC6", max_nodes=4)
    assert configuration._unused() == []


def test_all_that_can_be_said() -> None:
    configuration = AmlCompute.provisioning_configuration(
        vm_size="Standard_D2_v2",
        vm_priority="LowPriority",
        min_nodes=1,
        max_nodes=2,
        idle_seconds_before_scaledown=60,
        admin_username="me",
        admin_user_password="Secret-1",
        **NETWORK,  # type: ignore[arg-type]
        tags={"team": "birds"},
        description="for the team",
        remote_login_port_public_access="Enabled",
        identity_type="UserAssigned",
        identity_id=["one"],
        location="westus",
    )
    target = configuration._target("c")
    assert (target.vm_priority, target.min_nodes, target.max_nodes, target.idle_seconds) == ("lowpriority", 1, 2, 60)
    assert target.details == {
        "tags": {"team": "birds"},
        "description": "for the team",
        "location": "westus",
        "admin_username": "me",
        **NETWORK,
        "remote_login_port_public_access": "Enabled",
        "identity_type": "UserAssigned",
        "identity_id": ["one"],
    }
    assert "admin_username" in configuration._unused()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_nodes": None}, "max_nodes is required"),
        ({"max_nodes": -1}, "max_nodes must be a whole number from 0 on, not -1"),
        ({"max_nodes": "four"}, "max_nodes must be a whole number from 0 on, not 'four'"),
        ({"max_nodes": True}, "max_nodes must be a whole number"),
        ({"max_nodes": 1.5}, "max_nodes must be a whole number"),
        ({"max_nodes": "9" * 100_000}, "max_nodes must be a whole number"),
        ({"max_nodes": 1, "min_nodes": 2}, r"max_nodes \(1\) is less than min_nodes \(2\)"),
        ({"min_nodes": -1}, "min_nodes"),
        ({"idle_seconds_before_scaledown": -1}, "idle_seconds_before_scaledown"),
        ({"vm_priority": "cheap"}, "'dedicated' or 'lowpriority', not 'cheap'"),
        ({"vnet_name": "v"}, "give all three, or none"),
        ({"vnet_name": "v", "subnet_name": "s"}, "give all three, or none"),
        ({"admin_username": "me"}, "needs admin_user_password or admin_user_ssh_key"),
        ({"admin_user_ssh_key": "ssh-rsa"}, "need admin_username"),
        ({"remote_login_port_public_access": "Open"}, "Enabled, Disabled, NotSpecified"),
        ({"identity_type": "Mine"}, "SystemAssigned, UserAssigned"),
        ({"identity_type": "UserAssigned"}, "needs identity_id"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
        AmlCompute.provisioning_configuration(**{"max_nodes": 4, **settings})


def test_what_notebooks_pass_is_taken_as_azure_took_it() -> None:
    """Numbers as text, words in any case, and passwords that nobody uses here."""
    configuration = AmlCompute.provisioning_configuration(
        vm_size="STANDARD_D2_V2",
        min_nodes="1",  # type: ignore[arg-type]
        max_nodes=4.0,  # type: ignore[arg-type]
        idle_seconds_before_scaledown="300",  # type: ignore[arg-type]
        admin_username="<my-username>",
        admin_user_password="<my-password>",
        remote_login_port_public_access="enabled",
        identity_type="userassigned",
        identity_id="/one",
        enable_node_public_ip="false",  # type: ignore[arg-type]
    )
    assert configuration.scale_settings == ScaleSettings(1, 4, 300)
    assert (configuration.remote_login_port_public_access, configuration.identity_type) == ("Enabled", "UserAssigned")
    assert (configuration.identity_id, configuration.enable_node_public_ip) == (["/one"], False)
    target = configuration._target("c")
    assert [type(each) for each in (target.min_nodes, target.max_nodes, target.idle_seconds)] == [int, int, int]
    assert "<my-password>" not in str(target)


def test_the_sizes_that_can_be_asked_for() -> None:
    sizes = {size["name"]: size for size in AmlCompute.supported_vmsizes(None)}  # type: ignore[arg-type]
    assert sizes["Standard_NC6"] == {"name": "Standard_NC6", "vCPUs": 6, "gpus": 1, "memoryGB": 56.0}


def test_quotas_are_azures() -> None:
    assert AmlCompute.list_quotas(None) == AmlCompute.list_usages(None) == []  # type: ignore[arg-type]
    with pytest.raises(ComputeTargetException, match="max_nodes"):
        AmlCompute.update_quotas(None, "family", 3)  # type: ignore[arg-type]
