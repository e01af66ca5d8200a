"""Kinds of compute that Runyard lacks are refused with what to use instead."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.compute.aks import AksCompute, AksUpdateConfiguration, SslConfiguration, SystemService
from runyard.sdk.compute.compute import ComputeTarget, ComputeTargetProvisioningConfiguration
from runyard.sdk.compute.kubernetes import KubernetesCompute, KubernetesComputeStatus
from runyard.sdk.compute.remote import BatchCompute, RemoteCompute
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException

NOWHERE: Any = None


@pytest.mark.parametrize(
    ("attach", "message"),
    [
        (lambda: RemoteCompute.attach_configuration("me", address="host", password="x"), "over ssh.*'host'.*Slurm"),
        (
            lambda: KubernetesCompute.attach_configuration(resource_id="/some/id"),
            "KubernetesCompute.*RayCompute.*Slurm",
        ),
        (lambda: BatchCompute.attach_configuration("group", "account"), "BatchCompute"),
    ],
)
def test_attaching_is_refused_with_what_to_use_instead(attach: Any, message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
        ComputeTarget.attach(NOWHERE, "far", attach())


def test_making_is_refused_with_what_to_use_instead() -> None:
    with pytest.raises(ComputeTargetException, match="over ssh"):
        RemoteCompute.attach(NOWHERE, "far", "me", "host")


def test_the_wrong_kind_of_configuration() -> None:
    with pytest.raises(ComputeTargetException, match="A cluster that is there is attached"):
        ComputeTarget.create(NOWHERE, "x", AksCompute.attach_configuration(resource_id="/i"))  # type: ignore[arg-type]
    with pytest.raises(ComputeTargetException, match="made with create"):
        ComputeTarget.attach(NOWHERE, "x", AksCompute.provisioning_configuration())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["local", "amlcompute", "AmlCompute", "containerinstance"])
def test_names_with_a_meaning_of_their_own(name: str) -> None:
    with pytest.raises(UserErrorException, match="Choose another name"):
        ComputeTarget.create(NOWHERE, name, ComputeTargetProvisioningConfiguration(None, None))


def test_dictionaries_of_what_is_absent() -> None:
    ssl = SslConfiguration("Enabled", "c", "k", "www")
    assert SslConfiguration.deserialize(ssl.serialize()) == ssl
    assert "'k'" not in repr(ssl)
    service = SystemService("ScoringFrontEnd", "1", "1.2.3.4")
    assert SystemService.deserialize(service.serialize()) == service
    status = KubernetesComputeStatus("c", "m", "Succeeded")
    assert KubernetesComputeStatus.deserialize(status.serialize()) == status
    assert AksUpdateConfiguration(ssl).ssl_configuration is ssl
    with pytest.raises(ComputeTargetException, match="SslConfiguration"):
        AksUpdateConfiguration("on")  # type: ignore[arg-type]
