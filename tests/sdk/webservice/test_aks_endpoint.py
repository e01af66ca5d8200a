"""AksEndpoint: its versions as services of their own, and what is refused before a request is made."""

from __future__ import annotations

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aks import AksWebservice
from runyard.sdk.webservice.aks_endpoint import AksEndpoint
from runyard.sdk.workspace.workspace import Workspace

VERSIONS = [
    {"name": "version-a", "revision": 1, "traffic": 20.0, "default": True, "control": True, "replicas": 1},
    {"name": "version-b", "revision": 2, "traffic": 10.0, "default": False, "control": False, "replicas": 1},
]


@pytest.fixture
def endpoint(workspace: Workspace) -> AksEndpoint:
    return AksEndpoint._told(workspace, told.service("endpoint", versions=VERSIONS))


def test_versions_by_name(endpoint: AksEndpoint) -> None:
    assert endpoint.compute_type == "AKSENDPOINT"
    assert sorted(endpoint.versions) == ["version-a", "version-b"]
    first, second = endpoint.versions["version-a"], endpoint.versions["version-b"]
    assert isinstance(first, AksWebservice)
    assert (first.is_default, first.traffic_percentile, first.version_type) == (True, 20.0, "Control")
    assert (second.is_default, second.traffic_percentile, second.version_type) == (False, 10.0, "Treatment")
    assert first._revision()["models"] == ["bird:1"]
    assert AksEndpoint.VersionType.treatment == second.version_type
    assert sorted(endpoint.serialize()["versions"]) == ["version-a", "version-b"]


def test_a_version_is_changed_through_its_endpoint(endpoint: AksEndpoint) -> None:
    version = endpoint.versions["version-b"]
    with pytest.raises(WebserviceException, match=r"endpoint\.update_version\('version-b'\)"):
        version.update(num_replicas=2)
    with pytest.raises(WebserviceException, match=r"endpoint\.delete_version\('version-b'\)"):
        version.delete()


def test_what_is_refused_at_once(endpoint: AksEndpoint) -> None:
    with pytest.raises(WebserviceException, match="no name for a version"):
        endpoint.create_version("v1")
    with pytest.raises(WebserviceException, match="from 0 to 100"):
        endpoint.create_version("version-c", traffic_percentile=150)
    with pytest.raises(WebserviceException, match="without anything to change"):
        endpoint.update_version("version-a")
    with pytest.raises(WebserviceException, match=r"version_name is required\. .* version-a, version-b"):
        endpoint.delete_version(None)  # type: ignore[arg-type]
    with pytest.raises(WebserviceException, match="keys or tokens"):
        endpoint.update(auth_enabled=True, token_auth_enabled=True)
    with pytest.raises(WebserviceException, match="without anything to change"):
        endpoint.update()
