"""What reporters say of a run is passed on as it was meant, and what has no form does not stop an end."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from runyard.server.middleware.problems import Problem
from runyard.server.requests.facts import FactReport, fact_of, in_form


def test_a_report_becomes_a_fact() -> None:
    fact = fact_of(FactReport(fact="ended", outcome="failed", stopped=True, attempt=2, reason="why"))
    assert (fact.kind, fact.outcome, fact.stopped, fact.attempt, fact.reason) == ("ended", "failed", True, 2, "why")
    assert fact_of(FactReport(fact="ended", timed_out=True)).timed_out


def test_an_end_without_an_outcome_is_refused() -> None:
    with pytest.raises(Problem) as caught:
        fact_of(FactReport(fact="ended"))
    assert caught.value.code == "invalid_run"


def test_no_fact_is_of_the_future_or_of_the_year_one() -> None:
    ahead = datetime.now(timezone.utc) + timedelta(days=1)
    at = fact_of(FactReport(fact="started", at=ahead)).at
    assert at is not None
    assert at < ahead
    assert fact_of(FactReport(fact="started", at=datetime(1, 1, 1, tzinfo=timezone.utc))).at is None


def test_an_error_of_another_form_is_brought_into_it() -> None:
    assert in_form(None) is None
    assert in_form({"code": 7, "exception": "no", "exit": {"code": 1}}) == {"code": "7", "exit": {"code": 1}}
    assert in_form({"exception": {"frames": [{"file": "a"}, 3]}}) == {"exception": {"frames": [{"file": "a"}]}}
