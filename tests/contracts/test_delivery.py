"""A delivery is read as it was written, and one that does not follow the form is refused with the reason."""

from __future__ import annotations

import json

import pytest

from runyard.contracts import delivery
from runyard.contracts.delivery import BadDelivery, Delivery, JournalPart, LogPart


def test_what_was_written_is_read() -> None:
    written = Delivery(
        before=[{"fact": "started", "at": "2026-11-18T02:00:00.000000Z"}],
        parts=[
            LogPart("user_logs/std_log.txt", 7, b"a line\nhalf of \xc3"),
            JournalPart("rank0-12-ab", 0, b'["v","acc",0.5,1.0,null]\n'),
            LogPart("logs/\u00e4.txt", 0, b"", restart=True),
            JournalPart("12-ab", 3, b"", run_id="its-parent"),
        ],
        after=[{"fact": "ended", "outcome": "completed"}],
        attempt=2,
        hold=True,
        patience=delivery.PATIENCE,
    )
    assert delivery.decode(delivery.encode(written)) == written


def test_a_heartbeat_is_a_delivery_with_nothing_in_it() -> None:
    assert delivery.decode(delivery.encode(Delivery())) == Delivery()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "does not begin with a header"),
        (b"{}", "does not begin with a header"),
        (b" " * (delivery.HEADER_LIMIT + 1) + b"\n", "does not begin with a header"),
        (b"not json\n", "no JSON"),
        (b"[" * 100_000 + b"\n", "no JSON"),
        (b"[]\n", "no object"),
        (b'{"parts": {}}\n', "'parts'"),
        (b'{"before": [1]}\n', "'before'"),
        (json.dumps({"after": [{}] * (delivery.PARTS_LIMIT + 1)}).encode() + b"\n", "'after'"),
        (b'{"parts": [{"log": "a", "offset": 0}]}\n', "'length'"),
        (b'{"parts": [{"log": "a", "offset": -1, "length": 0}]}\n', "'offset'"),
        (b'{"parts": [{"log": "a", "offset": true, "length": 0}]}\n', "'offset'"),
        (b'{"parts": [{"log": "a", "journal": "b", "offset": 0, "length": 0}]}\n', "neither a log nor a journal"),
        (b'{"parts": [{"journal": "b", "run": 1, "offset": 0, "length": 0}]}\n', "neither a log nor a journal"),
        (b'{"parts": [{"log": "a", "offset": 0, "length": 2}]}\nx', "fewer bytes"),
        (b'{"parts": [{"log": "a", "offset": 0, "length": 1}]}\nxy', "more bytes"),
        (b'{"attempt": "1"}\n', "'attempt'"),
        (b'{"hold": true, "patience": -1}\n', "'patience'"),
    ],
)
def test_another_form_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(BadDelivery, match=reason):
        delivery.decode(body)
