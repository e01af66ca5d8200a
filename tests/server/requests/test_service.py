"""Requests for services that are refused before anything is looked up."""

from __future__ import annotations

import pytest

from runyard.contracts.services.settings import Settings
from runyard.server.middleware.problems import Problem
from runyard.server.requests.service import checked_name, checked_settings


def test_names_and_settings_are_refused_with_their_codes() -> None:
    with pytest.raises(Problem) as refused:
        checked_name("X", "version")
    assert (refused.value.code, "version" in refused.value.title) == ("bad_name", True)
    with pytest.raises(Problem) as refused:
        checked_settings({"workers": -1}, Settings())
    assert refused.value.code == "invalid_service"
