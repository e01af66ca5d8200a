"""Requests come with numbers as texts, nulls and unknown fields."""

from __future__ import annotations

import pytest

from runyard.server.mlflow.forms import Pair, RunNamed, listed, moment, pairs
from runyard.server.mlflow.metrics import LogMetric


def test_what_clients_send_in_other_forms() -> None:
    found = LogMetric.model_validate(
        {"run_uuid": "r", "key": 5, "value": "-Infinity", "timestamp": "7", "step": None, "x": []}
    )
    assert (found.run, found.key, found.value, found.timestamp, found.step) == ("r", "5", float("-inf"), 7, None)
    assert RunNamed.model_validate({}).run == ""
    assert Pair.model_validate({"key": "a", "value": None}).value == ""
    assert pairs([Pair(key="a", value="1")]) == {"a": "1"}
    assert pairs(None) == {}
    assert listed({"a": None}) == [{"key": "a", "value": ""}]


@pytest.mark.parametrize(("given", "year"), [(0, 1970), (-5, 1970), (2**63 - 1, 9999), (1_600_000_000_000, 2020)])
def test_no_time_is_beyond_the_calendar(given: int, year: int) -> None:
    found = moment(given)
    assert found is not None
    assert found.year == year
    assert moment(None) is None
