"""The JSON that clients get."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

from runyard.server.responses.documents import answer, timestamp


def test_times_are_in_utc_with_microseconds() -> None:
    east = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    assert timestamp(east) == "2026-01-02T01:04:05.000000Z"
    assert timestamp(None) is None


def test_what_the_fast_encoder_refuses_is_answered_all_the_same() -> None:
    value = {"surrogate": "\ud800", "large": 2**70}
    assert json.loads(bytes(answer(value).body)) == value
    assert answer({}, status=201).status_code == 201
