"""Tags and properties in queries."""

from __future__ import annotations

from runyard.server.requests.labels import pairs


def test_a_key_alone_asks_for_any_value_and_an_empty_one_for_that() -> None:
    assert pairs(["final", "lr=0.1", "note=", "formula=a=b"]) == [
        ("final", None),
        ("lr", "0.1"),
        ("note", ""),
        ("formula", "a=b"),
    ]
