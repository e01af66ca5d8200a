"""Which services a list shows."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.filters import has_labels, has_model, kind_of


def test_kinds_in_any_case() -> None:
    assert [kind_of(each) for each in ("ACI", "aks", "AksEndpoint", "Local")] == ["aci", "aks", "endpoint", "local"]
    with pytest.raises(WebserviceException, match="ACI, AKS, AKSENDPOINT and LOCAL"):
        kind_of("cloud")


def test_the_model_of_the_revision_that_serves_counts() -> None:
    service = told.service()
    assert has_model(service, None, None)
    assert has_model(service, "bird", None)
    assert has_model(service, None, "bird:2")
    assert not has_model(service, None, "bird:1")
    assert not has_model(service, "bir", None)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, True),
        (["stage"], True),
        ([["stage", "test"]], True),
        ([["stage", "production"]], False),
        (["stage", "nothing"], False),
    ],
)
def test_labels(wanted: Any, found: bool) -> None:
    assert has_labels({"stage": "test"}, wanted, "tags") is found


def test_labels_are_a_list() -> None:
    with pytest.raises(WebserviceException, match="tags are a list"):
        has_labels({}, "stage", "tags")
