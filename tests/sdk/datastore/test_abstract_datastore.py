"""What every datastore has."""

from __future__ import annotations

import copy
from typing import Any, cast

from runyard.sdk.datastore.abstract_datastore import AbstractDatastore


def test_a_copy_of_a_configuration_keeps_the_datastore() -> None:
    datastore = AbstractDatastore(cast(Any, None), "images", "AzureBlob")
    assert copy.deepcopy({"store": datastore})["store"] is datastore
    assert (datastore.name, datastore.datastore_type) == ("images", "AzureBlob")
    assert "images" in repr(datastore)
