"""A datastore that is a web address: files by their names, and in words what cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.web_files import web_files

from runyard.server.data.web_place import WebPlace
from runyard.server.middleware.problems import Problem


def test_files_are_named_one_by_one(tmp_path: Path) -> None:
    with web_files(a=b"12345") as web:
        place = WebPlace("site", f"{web.url}/d/")
        assert [(each.path, each.size) for each in place.files("sub/a")] == [("sub/a", 5)]
        assert list(place.files("sub/a", after="sub/a")) == []
        assert b"".join(place.read("a", 1, 3)) == b"23"
        web.no_ranges = True
        assert b"".join(place.read("a", 1, 3)) == b"23"
        assert place.addresses(["x y"]) == [f"{web.url}/d/x%20y"]
        assert place.addresses(["x"], "PUT") == [None]
        for below in ("", "nothing"):
            with pytest.raises(Problem, match="has no file"):
                list(place.files(below))
        with pytest.raises(Problem, match="cannot be written"):
            place.take("x", tmp_path)
        with pytest.raises(Problem, match="cannot be written"):
            place.remove("x")
