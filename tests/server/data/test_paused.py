"""Listings between two requests: gone on with once, and not kept for ever."""

from __future__ import annotations

import uuid

import pytest

from runyard.server.data import paused


def test_a_listing_is_taken_by_one_request_alone() -> None:
    key = ("local", uuid.uuid4().hex, "1")
    paused.keep(key, iter("abc"))
    going = paused.take(key)
    assert going is not None
    assert list(going) == ["a", "b", "c"]
    assert paused.take(key) is None


def test_only_a_few_are_kept_and_old_ones_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [("local", uuid.uuid4().hex, str(number)) for number in range(paused.MOST + 1)]
    for key in keys:
        paused.keep(key, iter("abc"))
    assert paused.take(keys[0]) is None
    monkeypatch.setattr(paused, "KEPT", 0.0)
    paused._drop_old()
    assert paused.take(keys[-1]) is None
