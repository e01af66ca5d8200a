"""Where an input may lie: never over somebody's files, and never outside the folder that was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.client.data.cache import Cache
from runyard.client.data.listing import Listing
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare import input_files
from runyard.node.problem import RunProblem


def plan() -> Plan:
    return Plan("r_1", "r_1", "e", "1", "local", "s", "g", "local", "t", "http://127.0.0.1:9", Launch(script="x.py"))


def given(path: str | None = None) -> dict[str, Any]:
    return {"name": "d", "dataset": "1", "mode": "mount", "path_on_compute": path}


def test_the_place_of_an_input(tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert input_files._place(plan(), tmp_path, work, given(), False) == tmp_path / "inputs" / "d"
    assert input_files._place(plan(), tmp_path, work, given("a/b"), False) == work / "a" / "b"
    assert input_files._place(plan(), tmp_path, work, given("/data/x"), False) == Path("/data/x")
    for path, contained in (("../x", False), ("/data/x", True)):
        with pytest.raises(RunProblem):
            input_files._place(plan(), tmp_path, work, given(path), contained)


def test_a_path_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    folder, place = tmp_path / "r_1", tmp_path / "chosen"
    source = tmp_path / "a.txt"
    source.write_text("1")
    there = {"path": "/a.txt", "source": "s", "size": None, "etag": None, "modified": None, "local": None}
    found = Listing([{**there, "url": None, "content": None}], False, False)
    lease = Cache(tmp_path / "cache").lease()
    node = input_files.Node(plan(), folder, folder / "work", False, False, lease, {}, lambda: None, lambda reason: None)
    place.mkdir()
    (place / "mine").write_text("mine")
    with pytest.raises(RunProblem) as taken:
        input_files._bring(node, given(str(place)), found, place, True)
    assert taken.value.code == "DataPathTaken"
    assert (place / "mine").read_text() == "mine"
    (place / "mine").unlink()
    with pytest.raises(RunProblem, match="nobody gives it"):
        input_files._bring(node, given(str(place)), found, place, True)
    empty = Listing([], False, False)
    for _ in range(2):  # a link of the same run, or of one that is gone, is replaced
        input_files._bring(node, given(str(place)), empty, place, True)
        assert place.resolve() == folder / "inputs" / "d"
