"""What all deployment configurations check: names, labels, keys. A wrong one never reaches the server."""

from __future__ import annotations

import pytest

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aci import AciWebservice
from runyard.sdk.webservice.deployment_configuration import (
    WebserviceDeploymentConfiguration,
    checked_dict,
    checked_service_name,
)


@pytest.mark.parametrize("name", ["ab", "a" * 33, "Birds", "1birds", "birds-", "bi_rds", "", None, 5, "bir\nds"])
def test_names_that_are_refused(name: object) -> None:
    with pytest.raises(WebserviceException, match="3 to 32 lower-case letters, digits or '-'"):
        checked_service_name(name)


def test_names_that_are_taken() -> None:
    assert [checked_service_name(each) for each in ("abc", "a" * 32, "a-1")] == ["abc", "a" * 32, "a-1"]


def test_labels_are_dicts_of_texts() -> None:
    assert checked_dict("tags", {"a": 1}) == {"a": "1"}
    assert checked_dict("tags", None) is None
    with pytest.raises(WebserviceException, match="tags must be a dict"):
        checked_dict("tags", ["a"])


@pytest.mark.parametrize("key", ["short", "with space in the key", "ä" * 20, 5])
def test_keys_that_are_refused(key: str) -> None:
    with pytest.raises(WebserviceException, match="primary_key must be 16 to 255 ASCII"):
        AciWebservice.deploy_configuration(auth_enabled=True, primary_key=key)


def test_images_are_refused_with_what_to_use() -> None:
    with pytest.raises(WebserviceException, match=r"Model\.deploy"):
        WebserviceDeploymentConfiguration.validate_image(object())


def test_printing_shows_what_was_given_and_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    config = AciWebservice.deploy_configuration(cpu_cores=2, auth_enabled=True, primary_key="secret-secret-secret")
    config.print_deploy_configuration()
    shown = capsys.readouterr().out
    assert "cpu_cores: 2" in shown
    assert "primary_key: ***" in shown
    assert "secret-secret" not in shown
    assert "memory_gb" not in shown
