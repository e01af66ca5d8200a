"""Azure's data lakes: known by name, with SDK v1's attributes."""

from __future__ import annotations

from typing import Any, cast

from runyard.sdk.datastore.data_lake import AzureDataLakeDatastore, AzureDataLakeGen2Datastore


def test_attributes_are_those_of_sdk_v1() -> None:
    here = cast(Any, None)
    first = AzureDataLakeDatastore(here, "lake", "store", "t", "c", None, subscription_id="s", resource_group="g")
    assert (first.datastore_type, first.store_name) == ("AzureDataLake", "store")
    assert (first.subscription_id, first.resource_group) == ("s", "g")
    second = AzureDataLakeGen2Datastore(here, "lake", "fs", "account", endpoint="e")
    assert (second.datastore_type, second.container_name, second.endpoint) == ("AzureDataLakeGen2", "fs", "e")
    assert not hasattr(second, "upload")
