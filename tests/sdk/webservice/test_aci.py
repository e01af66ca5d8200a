"""AciWebservice: what its configuration checks and sends, and what the class refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aci import AciWebservice
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cpu_cores": 0}, "cpu_cores must be a number of more than 0"),
        ({"memory_gb": -0.5}, "memory_gb"),
        ({"cpu_cores": "1"}, "cpu_cores"),
        ({"ssl_enabled": True}, "needs ssl_cert_pem_file"),
        ({"ssl_enabled": True, "ssl_cert_pem_file": "c", "ssl_key_pem_file": "k", "ssl_cname": "w"}, "no file 'c'"),
        ({"vnet_name": "v"}, "give both"),
        ({"cmk_key_name": "k"}, "all three"),
        ({"primary_key": "a-key-of-sixteen"}, "need auth_enabled=True"),
        ({"properties": [1]}, "properties must be a dict"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(WebserviceException, match=message):
        AciWebservice.deploy_configuration(**settings)


def test_what_was_not_given_is_none_and_not_sent() -> None:
    config = AciWebservice.deploy_configuration()
    public = {name: value for name, value in vars(config).items() if not name.startswith("_")}
    assert set(public.values()) == {None}
    assert config._request() == {"kind": "aci", "settings": {}}


def test_what_was_given_is_sent() -> None:
    config = AciWebservice.deploy_configuration(1, 0.5, {"a": "b"}, auth_enabled=True, dns_name_label="birds")
    assert config._request() == {
        "kind": "aci",
        "tags": {"a": "b"},
        "settings": {"cpu": 1, "memory_gb": 0.5, "authentication": "key"},
    }
    assert config._unused() == ["dns_name_label"]


def test_the_attributes_and_what_is_not_for_it(workspace: Workspace) -> None:
    service = AciWebservice._told(workspace, told.service())
    assert service.compute_type == "ACI"
    assert (service.container_resource_requirements.cpu, service.auth_enabled) == (1, False)
    with pytest.raises(NotImplementedError, match="get_keys"):
        service.get_token()
    with pytest.raises(WebserviceException, match="without anything to change"):
        service.update()
    with pytest.raises(WebserviceException, match="from an image"):
        service.update(image=object())
