"""Facts have the form of the protocol: times in UTC, an error only where there is one."""

from __future__ import annotations

import datetime

from runyard.node import facts


def test_the_time_is_now_in_utc() -> None:
    before = datetime.datetime.now(datetime.timezone.utc)
    fact = facts.started()
    after = datetime.datetime.now(datetime.timezone.utc)
    assert fact["fact"] == "started"
    assert fact["at"].endswith("Z")
    at = datetime.datetime.fromisoformat(fact["at"].replace("Z", "+00:00"))
    assert before - datetime.timedelta(microseconds=2) <= at <= after


def test_an_end_has_an_error_only_when_there_is_one() -> None:
    assert "error" not in facts.ended("completed")
    fact = facts.ended("failed", {"code": "UserError"})
    assert (fact["fact"], fact["outcome"], fact["error"]) == ("ended", "failed", {"code": "UserError"})
