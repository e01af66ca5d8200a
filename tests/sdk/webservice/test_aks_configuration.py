"""Which settings of AKS go together: SDK v1's rules, so that a notebook fails where it did, and not later."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aks import AksWebservice
from runyard.sdk.webservice.aks_configuration import check_share
from runyard.sdk.webservice.aks_endpoint import AksEndpoint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"autoscale_enabled": True, "num_replicas": 2}, "leave out num_replicas"),
        ({"autoscale_enabled": False}, "give num_replicas"),
        ({"autoscale_min_replicas": 1}, "autoscale_min_replicas needs autoscale_enabled=True"),
        ({"autoscale_enabled": True, "autoscale_min_replicas": 5, "autoscale_max_replicas": 2}, "less than"),
        ({"autoscale_enabled": True, "autoscale_target_utilization": 101}, "at most 100"),
        ({"autoscale_enabled": True, "autoscale_min_replicas": -1}, "from 0 on"),
        ({"auth_enabled": True, "token_auth_enabled": True}, "keys or tokens"),
        ({"cpu_cores": 0}, "cpu_cores must be a number of more than 0"),
        ({"memory_gb": -1}, "memory_gb"),
        ({"gpu_cores": 0}, "gpu_cores"),
        ({"num_replicas": 0}, "num_replicas"),
        ({"scoring_timeout_ms": 0}, "scoring_timeout_ms"),
        ({"period_seconds": 0}, "period_seconds"),
        ({"failure_threshold": "3"}, "failure_threshold"),
        ({"replica_max_concurrent_requests": 0}, "replica_max_concurrent_requests"),
        ({"cpu_cores": 2, "cpu_cores_limit": 1}, "cpu_cores_limit"),
        ({"namespace": "Not-Allowed"}, "no namespace"),
        ({"auth_enabled": False, "primary_key": "a-key-of-sixteen"}, "need auth_enabled=True"),
        ({"tags": "x"}, "tags must be a dict"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any], message: str) -> None:
    for make in (AksWebservice.deploy_configuration, AksEndpoint.deploy_configuration):
        with pytest.raises(WebserviceException, match=message):
            make(**settings)


def test_what_was_not_given_is_none_and_not_sent() -> None:
    config = AksWebservice.deploy_configuration()
    public = {name: value for name, value in vars(config).items() if not name.startswith("_")}
    assert set(public.values()) == {None}
    assert config._request() == {"kind": "aks", "settings": {}}


def test_what_was_given_is_sent() -> None:
    config = AksWebservice.deploy_configuration(
        autoscale_enabled=True,
        autoscale_min_replicas=0,
        autoscale_max_replicas=3,
        cpu_cores=1,
        cpu_cores_limit=2,
        memory_gb=1,
        token_auth_enabled=True,
        replica_max_concurrent_requests=4,
        max_request_wait_time=1000,
        scoring_timeout_ms=500,
        period_seconds=5,
        collect_model_data=True,
        tags={"a": "b"},
    )
    assert config._request() == {
        "kind": "aks",
        "tags": {"a": "b"},
        "settings": {
            "cpu": 2,
            "memory_gb": 1,
            "autoscale": {"enabled": True, "min": 0, "max": 3},
            "authentication": "token",
            "concurrency": 4,
            "queue_wait_ms": 1000,
            "scoring_timeout_ms": 500,
            "probes": {"period_seconds": 5},
        },
    }
    assert config._unused() == ["collect_model_data"]


def test_the_first_version_of_an_endpoint() -> None:
    config = AksEndpoint.deploy_configuration(version_name="version-a", traffic_percentile=20)
    assert (config.version_name, config.traffic_percentile) == ("version-a", 20)
    assert config._request() == {
        "kind": "endpoint",
        "settings": {},
        "version_name": "version-a",
        "traffic_percentile": 20,
    }
    with pytest.raises(WebserviceException, match="'v1' is no name for a version"):
        AksEndpoint.deploy_configuration(version_name="v1")


@pytest.mark.parametrize("share", [-1, 101, "20", True])
def test_shares_are_percentages(share: object) -> None:
    with pytest.raises(WebserviceException, match="from 0 to 100"):
        check_share(share)
    check_share(None)
    check_share(0.5)
