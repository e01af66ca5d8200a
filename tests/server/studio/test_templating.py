"""Templates: text stays text, in pages and in what they hold for scripts."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone

import pytest

from runyard.server.studio import templating

EVIL = "</script><script>alert(1)</script><!--"


def test_text_is_escaped() -> None:
    template = templating.environment().from_string("{{ evil }}<p title='{{ evil }}'>")
    assert "<script" not in template.render(evil=EVIL)
    with pytest.raises(Exception, match="nosuch"):
        templating.environment().from_string("{{ nosuch }}").render()


def test_data_of_scripts_cannot_end_its_element() -> None:
    text = str(templating.embedded({"a": EVIL}))
    found = re.fullmatch(r'<script type="application/json" id="page-data">([^<>]*)</script>', text)
    assert found is not None
    assert json.loads(found[1]) == {"a": EVIL}


def test_words() -> None:
    at = datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc)
    assert "2026-01-02T03:04:00.000000Z" in str(templating.time(at))
    assert templating.time(at) == templating.time("2026-01-02T03:04:00Z")
    assert templating.time(None) == "–"
    assert [templating.size(n) for n in (None, 5, 1500, 5 * 10**9)] == ["–", "5 B", "1.5 KB", "5.0 GB"]
    assert [templating.duration(n) for n in (None, 1.25, 90, 7300, 200_000)] == [
        "–",
        "1.2 s",
        "1 min 30 s",
        "2 h 1 min",
        "2 d 7 h",
    ]
    assert templating.part("a/b c") == "a%2Fb%20c"
    assert [templating.tone(each) for each in ("Completed", "Failed", "Canceled", "Running", "Queued")] == [
        "good",
        "bad",
        "still",
        "busy",
        "waiting",
    ]
