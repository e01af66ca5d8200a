"""AksWebservice: its attributes, and which changes an update asks for."""

from __future__ import annotations

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aks import AksWebservice, changed_settings
from runyard.sdk.workspace.workspace import Workspace


def test_the_attributes_that_notebooks_read(workspace: Workspace) -> None:
    settings = {**told.service()["settings"], "authentication": "token"}
    service = AksWebservice._told(workspace, told.service("aks", compute_target="aks", settings=settings))
    assert (service.compute_type, service.compute_name) == ("AKS", "aks")
    assert (service.auth_enabled, service.token_auth_enabled) == (False, True)
    assert service.autoscaler.max_replicas == 10
    assert service.liveness_probe_requirements.initial_delay_seconds == 310
    assert service.max_concurrent_requests_per_container == 1
    assert service.scoring_timeout_ms == 60000
    assert service.deployment_status == "Succeeded"


NOTHING = dict.fromkeys(
    (
        *(
            "image",
            "autoscale_enabled",
            "autoscale_min_replicas",
            "autoscale_max_replicas",
            "autoscale_refresh_seconds",
        ),
        *("autoscale_target_utilization", "collect_model_data", "auth_enabled", "cpu_cores", "memory_gb"),
        *("enable_app_insights", "scoring_timeout_ms", "replica_max_concurrent_requests", "max_request_wait_time"),
        *("num_replicas", "tags", "properties", "description", "models", "inference_config", "gpu_cores"),
        *("period_seconds", "initial_delay_seconds", "timeout_seconds", "success_threshold", "failure_threshold"),
        *("namespace", "token_auth_enabled", "cpu_cores_limit", "memory_gb_limit"),
    )
)


def test_numbers_of_the_autoscaler_alone_where_it_is_on(workspace: Workspace) -> None:
    service = AksWebservice._told(workspace, told.service("aks"))
    asked = changed_settings(service, {**NOTHING, "autoscale_max_replicas": 5, "properties": {"b": "2"}})
    assert asked == {"settings": {"autoscale": {"max": 5}}, "properties": {"made": "here", "b": "2"}}


def test_a_fixed_number_of_replicas(workspace: Workspace) -> None:
    service = AksWebservice._told(workspace, told.service("aks"))
    assert changed_settings(service, {**NOTHING, "num_replicas": 2}) == {"settings": {"replicas": 2}}


def test_updates_that_are_refused(workspace: Workspace) -> None:
    service = AksWebservice._told(workspace, told.service("aks"))
    with pytest.raises(WebserviceException, match="without anything to change"):
        service.update()
    with pytest.raises(WebserviceException, match="cpu_cores"):
        service.update(cpu_cores=0)
    with pytest.raises(WebserviceException, match="keys or tokens"):
        service.update(auth_enabled=True, token_auth_enabled=True)
