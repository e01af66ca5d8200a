"""The cause of a failure is part of a service's log, once."""

from __future__ import annotations

from tests.scheduler.services.test_decision import replica

from runyard.server.api.assets.service_logs import _cause


def test_a_cause_is_told_where_the_log_does_not_end_with_it() -> None:
    failed = replica(1, error={"message": "The disk is full.", "help": "Free some."})
    assert _cause(failed, []) == ["The disk is full.\n", "Free some.\n"]
    assert _cause(failed, ["Error: The disk is full.\n"]) == []
    assert _cause(replica(1), []) == []
