"""If these fail, whoever watches a service that sleeps takes it for broken."""

from __future__ import annotations

import pytest

from runyard.serving.gateway.answers import asleep
from runyard.serving.http.head import Head


@pytest.mark.parametrize(
    ("method", "path", "body", "kind"),
    [
        ("GET", "/", b"Healthy", "text/html"),
        ("GET", "/ready", b'{"ready": true}', "application/json"),
        ("GET", "/score/v2/health/live", b'{"live": true}', "application/json"),
        ("GET", "/metrics", b"", "text/plain"),
        ("OPTIONS", "/score", b"", "text/html"),
    ],
)
def test_who_watches_gets_what_a_replica_would_say(method: str, path: str, body: bytes, kind: str) -> None:
    said, its_kind = asleep(Head(method, path, {}, True, 0))
    assert (said, its_kind.partition(";")[0]) == (body, kind)
