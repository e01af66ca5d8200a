"""Arguments of compute configurations, as notebooks give them: Azure's service read them leniently."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from runyard.sdk.compute.aks import AksCompute
from runyard.sdk.compute.arguments import chosen, switch, whole_number
from runyard.sdk.compute.cluster import RayCompute
from runyard.sdk.compute.instance import ComputeInstance
from runyard.sdk.compute.kubernetes import KubernetesCompute
from runyard.sdk.compute.remote import RemoteCompute
from runyard.sdk.exceptions import ComputeTargetException


@pytest.mark.parametrize("value", [3, "3", " 3 ", 3.0, numpy.int64(3)])
def test_whole_numbers(value: object) -> None:
    number = whole_number("n", value)
    assert (number, type(number)) == (3, int)


@pytest.mark.parametrize("value", [None, "", "x", "-1", "1.5", 1.5, True, [], float("nan"), float("inf"), -1, "\u0663"])
def test_what_is_no_whole_number(value: object) -> None:
    with pytest.raises(ComputeTargetException, match="n must be a whole number from 0 on"):
        whole_number("n", value)


def test_a_number_within_bounds() -> None:
    assert whole_number("n", "65535", 1, 65535) == 65535
    with pytest.raises(ComputeTargetException, match="from 1 to 65535, not 65536"):
        whole_number("n", 65536, 1, 65535)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        ("True", True),
        ("enabled", True),
        (1, True),
        (False, False),
        ("no", False),
        (0, False),
        (None, False),
    ],
)
def test_switches(value: object, expected: bool) -> None:
    assert switch("s", value) is expected


def test_what_is_no_switch_and_no_choice() -> None:
    strange: tuple[object, ...] = ("maybe", 2, [])
    for value in strange:
        with pytest.raises(ComputeTargetException, match="s is True or False"):
            switch("s", value)
    with pytest.raises(ComputeTargetException, match="c is one of A, B, not 3"):
        chosen("c", 3, ["A", "B"])


def test_every_configuration_takes_them() -> None:
    loose: Any = "3"
    assert AksCompute.provisioning_configuration(agent_count=loose).agent_count == 3
    AksCompute.provisioning_configuration(agent_count=1, cluster_purpose="devtest", load_balancer_type="publicip")
    assert RayCompute.attach_configuration(address="head:6379", max_nodes=loose)._target("r").max_nodes == 3
    assert RemoteCompute.attach_configuration("me", address="host", ssh_port=loose, password="p").ssh_port == 3
    assert (
        KubernetesCompute.attach_configuration("id", identity_type="systemassigned").identity_type == "SystemAssigned"
    )
    loose = "false"
    assert ComputeInstance.provisioning_configuration(ssh_public_access=loose).ssh_public_access is False
