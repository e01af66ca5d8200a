"""Configurations of AKS clusters are checked as on Azure, though none can be made or attached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.aks import AksCompute
from runyard.sdk.exceptions import ComputeTargetException


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
