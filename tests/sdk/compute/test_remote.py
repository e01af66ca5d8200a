"""Configurations of machines that are reached by SSH, and of Azure Batch, are checked though none can be attached."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.compute.remote import RemoteCompute
from runyard.sdk.exceptions import ComputeTargetException


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"username": ""}, "username is required"),
        ({"address": None}, "Name the machine in one way"),
        ({"resource_id": "/id"}, "Name the machine in one way"),
        ({"vm_name": "vm"}, "give all three"),
        ({"password": ""}, "either a password or a private_key_file"),
        ({"password": "", "private_key_file": "/no/key"}, "no private_key_file '/no/key'"),
        ({"ssh_port": 0}, "1 to 65535"),
    ],
)
def test_remote_compute_checks(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
        RemoteCompute.attach_configuration(**{"username": "me", "address": "host", "password": "x", **settings})
