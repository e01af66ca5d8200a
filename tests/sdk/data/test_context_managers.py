"""What SDK v1 wrapped around scripts: importable, and refused with what to use instead."""

from __future__ import annotations

import pytest

from azureml.data.context_managers import DatasetContextManager, DatastoreContextManager
from runyard.sdk.exceptions import UserErrorException


def test_entering_one_is_refused_with_what_to_use() -> None:
    for manager in (DatasetContextManager({}, True), DatastoreContextManager({})):
        with pytest.raises(UserErrorException, match=r"dataset\.mount"), manager:
            raise AssertionError("it was entered")
