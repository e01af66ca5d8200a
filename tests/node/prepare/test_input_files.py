"""How the files of an input come to their place: shown, linked, and never over somebody's files."""

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
from runyard.node.prepare import input_files, input_places
from runyard.node.problem import RunProblem
from runyard.server.data.folder_place import FolderPlace


def plan() -> Plan:
    return Plan("r_1", "r_1", "e", "1", "local", "s", "g", "local", "t", "http://127.0.0.1:9", Launch(script="x.py"))


def given(path: str | None = None) -> dict[str, Any]:
    return {"name": "d", "dataset": "1", "mode": "mount", "path_on_compute": path}


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
    answer = {"folder": str(data), "files": 1_000, "names": "", "mark": mark_of_folder(data.stat())}
    client: Any = SimpleNamespace(send=lambda method, path, params: answer)
    lease = Cache(tmp_path / "cache").lease()
    for nodes, path, shown in ((1, "in", True), (2, "in", False), (2, None, True), (1, str(tmp_path / "to"), True)):
        distribution = asdict(Distribution(nodes=nodes))
        of_run = replace(plan(), launch=Launch(script="x.py", distribution=distribution))
        node = input_files.Node(of_run, folder, folder / "work", False, False, lease, {}, lambda: None, lambda _: None)
        place = input_places.place_of(of_run, folder, node.work, given(path), False)
        found = input_files._whole(node, client, given(path), place)
        assert (found is not None, len(node.bound)) == (shown, shown)
        if found is not None:
            assert Path(found.value, "a").read_text() == "1"
        for each in node.bound:
            each.end()
    answer["mark"] = "another machine's"
    place = input_places.place_of(plan(), folder, node.work, given(), False)
    assert input_files._whole(node, client, given(), place) is None
    assert not os.listdir(place)


def test_without_root_a_folder_is_linked_once_until_a_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binds, "possible", lambda: False)
    data = tmp_path / "data"
    (data / "d0").mkdir(parents=True)
    for number in range(1_000):
        (data / "d0" / f"{number:04d}").write_text("x")

    def asked() -> dict[str, Any]:
        found = FolderPlace("mine", data).whole()
        assert found is not None
        return {**found._asdict(), "mark": mark_of_folder(data.stat())}

    cache = Cache(tmp_path / "cache")

    def brought(run: str, answer: dict[str, Any], dataset: str = "d") -> input_files.Brought | None:
        asked_for = {**given(), "dataset": dataset}
        client: Any = SimpleNamespace(send=lambda method, path, params: answer)
        folder = tmp_path / run
        node = input_files.Node(
            plan(), folder, folder / "work", False, False, cache.lease(), {}, lambda: None, lambda _: None
        )
        place = input_places.place_of(plan(), folder, folder, asked_for, False)
        return input_files._whole(node, client, asked_for, place)

    first = brought("r_1", asked())
    assert first is not None
    assert (first.ways, first.record, first.later is not None) == ("1,000 linked", {"files": 1_000}, True)
    (data / "d0" / "0000").write_text("changed")
    again = brought("r_2", asked())
    assert again is not None
    assert (again.ways, again.value) == ("by the links of an earlier run", first.value)
    other = brought("r_other", asked(), "another dataset of the same folder")
    assert other is not None
    assert (other.ways, other.value) == ("by the links of an earlier run", first.value)
    assert (Path(again.value) / "d0" / "0000").read_text() == "changed"
    assert oct((Path(again.value) / "d0").stat().st_mode & 0o777) == "0o555"
    stale = asked()
    (data / "d0" / "new").write_text("y")
    assert brought("r_3", stale) is not None, "it was so when the server looked"
    third = brought("r_4", asked())
    assert third is not None
    assert (third.ways, sorted(os.listdir(f"{third.value}/d0"))[-1]) == ("1,001 linked", "new")
    (data / "d0" / "newer").write_text("y")
    assert brought("r_5", {**asked(), "names": "another"}) is None, "what changes just now is listed"
    assert not [each for each in os.listdir(tmp_path / "cache" / "trees") if each.startswith(".")]


def test_another_users_folder_is_given_as_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, lies = tmp_path / "data", tmp_path / "lies"
    for folder in (data / "sub", lies):
        folder.mkdir(parents=True)
    (data / "sub" / "a").write_text("1")
    cache = Cache(tmp_path / "cache")
    if binds.possible():  # root may write anywhere but on what is mounted read-only
        there = binds.bind(data, lies, cache.folder)
    else:
        there, lies = None, data
        for folder in (data, data / "sub"):
            folder.chmod(0o555)
    monkeypatch.setattr(binds, "possible", lambda: False)

    def brought(folder: Path, chosen: str | None) -> input_files.Brought | None:
        answer = {"folder": str(folder), "files": 1_000, "names": "x", "mark": mark_of_folder(folder.stat())}
        client: Any = SimpleNamespace(send=lambda method, path, params: answer)
        run = tmp_path / "r_1"
        node = input_files.Node(
            plan(), run, run / "work", False, False, cache.lease(), {}, lambda: None, lambda _: None
        )
        place = input_places.place_of(plan(), run, run, given(chosen), False)
        return input_files._whole(node, client, given(chosen), place)

    chosen = tmp_path / "chosen"
    try:
        for path, value in ((None, lies), (str(chosen), chosen)):
            found = brought(lies, path)
            assert found is not None
            assert (found.value, found.ways, found.record) == (str(value), input_files.AS_IT_LIES, {"files": 1_000})
            assert found.later is not None
            assert Path(found.value, "sub", "a").read_text() == "1"
        assert not (cache.folder / "trees").exists()
    finally:
        if there is not None:
            there.end()
        else:
            data.chmod(0o755)
    assert brought(data, None) is None, "it can be written to, and has other files than were said"
