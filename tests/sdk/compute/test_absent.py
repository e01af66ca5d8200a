"""Kinds of targets that Runyard has not: their settings are checked as in SDK v1, and the refusal says what to use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.aks import AksCompute, AksUpdateConfiguration, SslConfiguration, SystemService
from runyard.sdk.compute.compute import ComputeTarget, ComputeTargetProvisioningConfiguration
from runyard.sdk.compute.kubernetes import KubernetesCompute, KubernetesComputeStatus
from runyard.sdk.compute.remote import BatchCompute, RemoteCompute
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException

NOWHERE: Any = None


@pytest.mark.parametrize(
    ("attach", "words"),
    [
        (lambda: RemoteCompute.attach_configuration("me", address="host", password="x"), "over ssh.*'host'.*Slurm"),
        (lambda: AksCompute.attach_configuration(resource_id="/some/id"), "AksCompute.*RayCompute.*SlurmCompute"),
        (lambda: KubernetesCompute.attach_configuration(resource_id="/some/id"), "KubernetesCompute.*'local'"),
        (lambda: BatchCompute.attach_configuration("group", "account"), "BatchCompute"),
    ],
)
def test_attaching_is_refused_with_what_to_use_instead(attach: Any, words: str) -> None:
    with pytest.raises(ComputeTargetException, match=words):
        ComputeTarget.attach(NOWHERE, "far", attach())


def test_making_is_refused_with_what_to_use_instead() -> None:
    configuration = AksCompute.provisioning_configuration(agent_count=3)
    with pytest.raises(ComputeTargetException, match="no compute targets of the kind AksCompute"):
        ComputeTarget.create(NOWHERE, "aks", configuration)
    with pytest.raises(ComputeTargetException, match="over ssh"):
        RemoteCompute.attach(NOWHERE, "far", "me", "host")
    with pytest.raises(ComputeTargetException, match="AksCompute"):
        AksCompute.attach(NOWHERE, "far", "/some/id")


def test_the_wrong_kind_of_configuration() -> None:
    with pytest.raises(ComputeTargetException, match="A cluster that is there is attached"):
        ComputeTarget.create(NOWHERE, "x", AksCompute.attach_configuration(resource_id="/i"))  # type: ignore[arg-type]
    with pytest.raises(ComputeTargetException, match="made with create"):
        ComputeTarget.attach(NOWHERE, "x", AksCompute.provisioning_configuration())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["local", "amlcompute", "AmlCompute", "containerinstance"])
def test_names_with_a_meaning_of_their_own(name: str) -> None:
    with pytest.raises(UserErrorException, match="Choose another name"):
        ComputeTarget.create(NOWHERE, name, ComputeTargetProvisioningConfiguration(None, None))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"username": ""}, "username is required"),
        ({"address": None}, "Name the machine in one way"),
        ({"resource_id": "/id"}, "Name the machine in one way"),
        ({"vm_name": "vm"}, "give all three"),
        ({"password": ""}, "either a password or a private_key_file"),
        ({"password": "", "private_key_file": "/no/key"}, "no private_key_file '/no/key'"),
        ({"ssh_port": 0}, "1 to 65535"),
    ],
)
def test_remote_compute_checks(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ComputeTargetException, match=words):
        RemoteCompute.attach_configuration(**{"username": "me", "address": "host", "password": "x", **settings})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"agent_count": 0}, "agent_count"),
        ({"agent_count": 1}, "DEV_TEST"),
        ({"cluster_purpose": "Fun"}, "FastProd, DevTest"),
        ({"load_balancer_type": "x"}, "PublicIp"),
        ({"vnet_name": "v"}, "all three"),
        ({"service_cidr": "10.0.0.0/16"}, "dns_service_ip"),
        ({"ssl_cname": "www"}, "ssl_cert_pem_file"),
    ],
)
def test_aks_checks(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ComputeTargetException, match=words):
        AksCompute.provisioning_configuration(**settings)
    AksCompute.provisioning_configuration(agent_count=1, cluster_purpose=AksCompute.ClusterPurpose.DEV_TEST)


def test_aks_certificates(tmp_path: Path) -> None:
    configuration = AksCompute.attach_configuration("group", "cluster")
    configuration.enable_ssl(leaf_domain_label="birds")
    with pytest.raises(ComputeTargetException, match="either leaf_domain_label"):
        configuration.enable_ssl(ssl_cname="www", leaf_domain_label="birds")
    with pytest.raises(ComputeTargetException, match="There is no file"):
        configuration.enable_ssl("www", "/no/cert", "/no/key")
    cert, key = tmp_path / "cert", tmp_path / "key"
    cert.write_text("c")
    key.write_text("k")
    configuration.enable_ssl("www", str(cert), str(key))
    assert configuration.ssl_cname == "www"


@pytest.mark.parametrize(
    "named", [{}, {"resource_group": "g"}, {"resource_group": "g", "cluster_name": "c", "resource_id": "/i"}]
)
def test_an_aks_cluster_is_named_once(named: dict[str, str]) -> None:
    with pytest.raises(ComputeTargetException, match=r"resource_id|give both"):
        AksCompute.attach_configuration(**named)


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


def test_kubernetes_checks() -> None:
    with pytest.raises(ComputeTargetException, match="resource_id is required"):
        KubernetesCompute.attach_configuration()
    with pytest.raises(ComputeTargetException, match="needs identity_ids"):
        KubernetesCompute.attach_configuration("/id", identity_type="UserAssigned")
    configuration = KubernetesCompute.attach_configuration("/id", "space")
    assert configuration.to_dict()["properties"] == {"namespace": "space"}
