"""An address that has expired is asked for anew, and not again and again."""

from __future__ import annotations

from typing import Any

from runyard.client.data.renewal import Nothing, Renewal, as_order
from runyard.client.http import Client
from runyard.client.problems import ClientProblem


class Lists(Client):
    """Answers as the server would, and counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    def get(self, path: str, params: Any = None, **options: Any) -> Any:
        self.asked += 1
        if self.away:
            raise ClientProblem("server_unreachable", "away")
        files = [{"path": "/a", "url": f"http://h/a?sig={self.asked}"}, {"path": "/b", "url": None}]
        return {"files": files, "single": False, "several": False, "next": None}


def test_new_addresses_by_path() -> None:
    lists = Lists()
    renewal = Renewal(lists, "/datasets/1")
    assert renewal({"path": "/a", "url": "http://h/a?sig=0"}) == "http://h/a?sig=1"
    assert renewal({"path": "/a", "url": "http://h/a?sig=1"}) is None, "it is new already: it was refused for a reason"
    assert renewal({"path": "/b", "url": None}) is None
    assert lists.asked == 1
    lists.away = True
    renewal._listed_at -= 1000
    assert renewal({"path": "/a", "url": "http://h/a?sig=0"}) is None


def test_it_goes_to_another_process() -> None:
    assert isinstance(Renewal.of(as_order("http://127.0.0.1:9", "t", None, "/d")), Renewal)
    assert isinstance(Renewal.of(None), Nothing)
    assert Renewal.of(None)({}) is None
