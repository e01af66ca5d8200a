"""Parts of SDK v1's Workspace that Runyard lacks: empty where scripts list them, refused with advice where they act."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.absent import AbsentParts

PARTS = AbsentParts()


@pytest.mark.parametrize(
    "name",
    ["images", "linked_services", "private_endpoints"],
)
def test_what_cannot_exist_is_empty(name: str) -> None:
    assert getattr(PARTS, name) == {}


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (PARTS.update_dependencies, "by the server itself"),
        (lambda: PARTS.add_private_endpoint(None), "on this machine only"),
        (lambda: PARTS.delete_private_endpoint_connection("p"), "none to delete"),
        (PARTS.list_keys, "`token` of RUNYARD_HOME"),
        (lambda: PARTS.set_connection("c", "", "", "", ""), "environment_variables"),
        (lambda: PARTS.get_connection("c"), "none named 'c'"),
        (lambda: PARTS.delete_connection("c"), "none named 'c'"),
        (lambda: PARTS.diagnose_workspace(None), "runyard doctor"),
    ],
)
def test_what_cannot_be_done_is_refused_with_advice(call: Callable[[], Any], advice: str) -> None:
    with pytest.raises(UserErrorException, match="Runyard has no") as caught:
        call()
    assert advice in str(caught.value)


def test_what_needs_no_action() -> None:
    PARTS.sync_keys()
    assert PARTS.list_connections() == []
