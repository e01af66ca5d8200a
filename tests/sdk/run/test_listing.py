"""Lists of runs: SDK v1's filters as the server takes them, page after page, with a word about what is left out."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.run.listing import label_filter, listed_runs


class Pages:
    """A service with runs in pages; it remembers what it was asked."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages, self.params = list(pages), list[dict[str, Any]]()

    def get(self, path: str, params: dict[str, Any]) -> dict[str, Any]:
        assert path == "/api/runs"
        self.params.append(params)
        return self.pages.pop(0)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, []),
        ("good", ["good"]),
        ({"a": 1, "b": None}, ["a=1", "b"]),
        (["a", ("b", "1"), {"c": "2", "d": None}], ["a", "b=1", "c=2", "d"]),
        ([], []),
    ],
)
def test_filters(labels: object, expected: list[str]) -> None:
    assert label_filter("tags", labels) == expected


def test_a_filter_that_is_none() -> None:
    with pytest.raises(UserErrorException, match="The filter tags takes a text, a dict or a list, not a int"):
        label_filter("tags", 3)


def test_pages_are_fetched_as_they_are_needed(caplog: pytest.LogCaptureFixture) -> None:
    damaged = {"title": f"Run {uuid.uuid4().hex} is damaged.", "help": "Restore it."}
    service: Any = Pages(
        {"runs": [{"id": "c"}, {"id": "b"}], "next": "cursor", "damaged": [damaged]},
        {"runs": [{"id": "a"}], "next": None, "damaged": [damaged]},
    )
    found = listed_runs(service, {"experiment": "e"}, tags={"a": "1"}, status="Running")
    assert next(found)["id"] == "c"
    assert len(service.params) == 1
    assert [run["id"] for run in found] == ["b", "a"]
    assert [params["after"] for params in service.params] == [None, "cursor"]
    assert all((params["experiment"], params["tag"]) == ("e", ["a=1"]) for params in service.params)
    assert caplog.messages == [f"A run is left out of the list. {damaged['title']} Restore it."]
