"""Names of services: those of SDK v1."""

from __future__ import annotations

import pytest

from runyard.contracts.services.states import BadServiceName, check_name


@pytest.mark.parametrize("name", ["ab", "a" * 33, "Upper", "1st", "ends-", "under_score", "", None, "a/../b"])
def test_names_that_no_service_can_have(name: object) -> None:
    with pytest.raises(BadServiceName, match="3 to 32"):
        check_name(name)


def test_names_that_one_can_have() -> None:
    assert [check_name(each) for each in ("abc", "a-1", "a" * 32)] == ["abc", "a-1", "a" * 32]
