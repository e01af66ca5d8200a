"""Looking at an address: its size is known before a run copies it, also where HEAD is refused."""

from __future__ import annotations

import pytest
from tests.support.web_files import web_files

from runyard.server.data.web import Unreachable, look


def test_head_tells_all_and_where_it_is_refused_one_byte_is_asked_for() -> None:
    with web_files(a=b"12345") as web:
        seen = look(f"{web.url}/a")
        assert (seen.size, [method for method, _, _ in web.requests]) == (5, ["HEAD"])
        web.no_head = True
        assert look(f"{web.url}/a") == seen
        assert web.requests[-1] == ("GET", "a", "bytes=0-0")
        web.no_ranges = True
        assert look(f"{web.url}/a") == seen


@pytest.mark.parametrize(("status", "answer"), [(403, "403 Forbidden"), (404, "404 Not Found"), (500, "500 Internal")])
def test_a_refusal_is_repeated(status: int, answer: str) -> None:
    with web_files() as web:
        web.refused["a"] = status
        with pytest.raises(Unreachable, match=answer):
            look(f"{web.url}/a")
    with pytest.raises(Unreachable, match="refused"):
        look(f"{web.url}/a")
