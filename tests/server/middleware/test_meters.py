"""Requests are counted by route, whatever a client sends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runyard.server.middleware.meters import BOUNDS, Meters

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_invented_methods_are_counted_as_one(client: Client) -> None:
    for method in ("PROPFIND", "MKCOL", "LOCK"):  # the parser refuses those that nobody has ever heard of
        assert replace(client, token=None).call(method, "/health").status == 405
    text = client.get("/metrics").body.decode()
    assert "PROPFIND" not in text
    assert 'method="other"' in text


def test_durations_fall_into_buckets_and_the_last_has_no_end() -> None:
    meters = Meters()
    for seconds in (0.0005, 0.001, 0.2, 60.0):
        meters.answered("GET", "/x", 200, seconds)
    durations = meters.durations["GET", "/x"]
    assert (durations.counts[0], durations.counts[BOUNDS.index(0.25)], durations.counts[-1]) == (2, 1, 1)
    assert sum(durations.counts) == meters.requests["GET", "/x", 200] == 4
