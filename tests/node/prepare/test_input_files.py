"""Where an input may lie: never over somebody's files, and never outside the folder that was meant."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runyard.client.data import binds
from runyard.client.data.cache import Cache
from runyard.client.data.listing import Listing
from runyard.contracts.data.datasets import mark_of_folder
from runyard.contracts.distribution import Distribution
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


@pytest.mark.skipif(not binds.possible(), reason="a bind mount needs root and Linux")
def test_a_folder_is_shown_where_nobody_else_would_see_an_empty_one(tmp_path: Path) -> None:
    folder, data = tmp_path / "r_1", tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("1")
    answer = {"folder": str(data), "files": 1_000, "mark": mark_of_folder(data.stat())}
    client: Any = SimpleNamespace(send=lambda method, path, params: answer)
    lease = Cache(tmp_path / "cache").lease()
    for nodes, path, shown in ((1, "in", True), (2, "in", False), (2, None, True), (1, str(tmp_path / "to"), True)):
        distribution = asdict(Distribution(nodes=nodes))
        of_run = replace(plan(), launch=Launch(script="x.py", distribution=distribution))
        node = input_files.Node(of_run, folder, folder / "work", False, False, lease, {}, lambda: None, lambda _: None)
        place = input_files._place(of_run, folder, node.work, given(path), False)
        found = input_files._bound(node, client, given(path), place)
        assert (found is not None, len(node.bound)) == (shown, shown)
        if found is not None:
            assert Path(found.value, "a").read_text() == "1"
        for each in node.bound:
            each.end()
    answer["mark"] = "another machine's"
    place = input_files._place(plan(), folder, node.work, given(), False)
    assert input_files._bound(node, client, given(), place) is None
    assert not os.listdir(place)
