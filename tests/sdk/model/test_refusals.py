"""Refusals become SDK v1's exceptions; what is not about the model stays what it is."""

from __future__ import annotations

import pytest

from runyard.client.http import ClientProblem
from runyard.sdk.exceptions import (
    AuthenticationException,
    AzureMLException,
    ModelNotFoundException,
    ModelPathNotFoundException,
    ServiceException,
    WebserviceException,
)
from runyard.sdk.model.refusals import translated
from runyard.sdk.workspace.service import sdk_exception


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("model_not_found", 404, ModelNotFoundException),
        ("model_path_not_found", 404, ModelPathNotFoundException),
        ("model_in_use", 409, WebserviceException),
        ("property_fixed", 409, WebserviceException),
        ("disk_full", 507, WebserviceException),
        ("not_allowed", 403, AuthenticationException),
        ("server_unreachable", 0, ServiceException),
    ],
)
def test_a_refusal_has_its_class_and_its_words(code: str, status: int, kind: type[AzureMLException]) -> None:
    refusal = sdk_exception(ClientProblem(code, "It is wrong.", "Do that.", status))
    with pytest.raises(kind, match="It is wrong") as error, translated():
        raise refusal
    assert type(error.value) is kind
    if code == "model_not_found":
        assert error.value.message.startswith("ModelNotFound: ")
    if kind is WebserviceException:
        assert getattr(error.value, "status_code", None) == status
