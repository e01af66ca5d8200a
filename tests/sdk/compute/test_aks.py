"""Configurations of AKS clusters are checked as on Azure; a target that is made of one is this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.aks import AksCompute, AksUpdateConfiguration, SslConfiguration
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.exceptions import ComputeTargetException
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("settings", "message"),
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
def test_aks_checks(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
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


def test_a_target_is_made_found_and_removed(workspace: Workspace, name: str) -> None:
    settings = AksCompute.provisioning_configuration(agent_count=4, vm_size="STANDARD_D3_V2", location="here")
    made = ComputeTarget.create(workspace, name, settings)
    made.wait_for_completion(show_output=True)
    found = workspace.compute_targets[name]
    assert isinstance(found, AksCompute)
    assert (found.type, found.provisioning_state, found.is_attached) == ("AKS", "Succeeded", False)
    assert (found.agent_count, found.cluster_purpose, found.location) == (4, "FastProd", "here")
    assert AksCompute(workspace, name).serialize()["properties"]["computeType"] == "AKS"
    found.update(AksUpdateConfiguration(load_balancer_type="PublicIp"))
    assert found.load_balancer_type == "PublicIp"
    with pytest.raises(ComputeTargetException, match="without TLS"):
        found.update(AksUpdateConfiguration(SslConfiguration("Enabled")))
    with pytest.raises(ComputeTargetException, match="AksUpdateConfiguration"):
        found.update("x")  # type: ignore[arg-type]
    with pytest.raises(ComputeTargetException, match="no credentials"):
        found.get_credentials()
    found.delete()
    assert name not in workspace.compute_targets


def test_a_cluster_of_azure_that_is_attached(workspace: Workspace, name: str) -> None:
    attached = ComputeTarget.attach(workspace, name, AksCompute.attach_configuration("group", "cluster"))
    assert isinstance(attached, AksCompute)
    assert (attached.is_attached, attached.cluster_resource_id) == (True, "group/cluster")
    attached.detach()
    again = AksCompute.attach(workspace, name, "/some/id")
    assert again.cluster_resource_id == "/some/id"
    again.detach()
