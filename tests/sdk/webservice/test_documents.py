"""A service as a dictionary: what SDK v1's serialize has, and nothing lost on the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.documents import document_of, serialized


@pytest.mark.parametrize(("kind", "compute_type"), [("aci", "ACI"), ("aks", "AKS"), ("endpoint", "AKSENDPOINT")])
def test_written_and_read_back(kind: str, compute_type: str) -> None:
    service = told.service(kind)
    form = json.loads(json.dumps(serialized(service, compute_type)))
    assert document_of(form) == service


def test_the_names_of_sdk_v1() -> None:
    form = serialized(told.service("aks"), "AKS")
    assert form["computeType"] == "AKS"
    assert form["models"] == ["bird:2"]
    assert form["containerResourceRequirements"] == {"cpu": 1, "memoryInGB": 0.5}
    assert form["autoScaler"]["maxReplicas"] == 10
    assert form["scoringTimeoutMs"] == 60000


def test_one_that_another_program_wrote() -> None:
    form = {"name": "far", "computeType": "ACI", "state": "Healthy", "scoringUri": "http://far/score"}
    document = document_of(form)
    assert (document["kind"], document["scoring_uri"]) == ("aci", "http://far/score")


@pytest.mark.parametrize("form", [{}, {"name": "x"}, []])
def test_what_is_no_service(form: Any) -> None:
    with pytest.raises(WebserviceException, match=r"no service|from a dict"):
        document_of(form)
