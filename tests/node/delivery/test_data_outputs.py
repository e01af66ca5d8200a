"""Data of a run that is on this node is in its datastore at the end, or the run says what is not."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.client.http import quote
from runyard.contracts.data.outputs import Output
from runyard.contracts.plan import Launch, Plan
from runyard.node.delivery import settling
from runyard.node.delivery.data_outputs import DataOutput, data_outputs, tell
from runyard.node.facts import ended

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer


class Writing:
    """A run with one output, and what is in its datastore."""

    def __init__(self, run: RunOnServer, folder: Path, **output: Any) -> None:
        self.run, self.folder = run, folder / "data-outputs" / "made"
        (self.folder / "deep").mkdir(parents=True)
        self.output = Output("made", **{"path": f"out/{run.id}", **output})
        launch = Launch(command="true", outputs=[asdict(self.output)])
        self.plan = Plan(run.id, run.id, "e", "1", "local", "s", "g", "local", run.token, run.locator().url, launch)
        self.client = run.client(folder)
        (self.data,) = data_outputs(self.client, self.plan, folder, False, False)

    def stored(self) -> dict[str, bytes]:
        server = self.run.server.client
        store = "/api/workspaces/local/datastores/workspaceblobstore"
        found = {}
        for each in server.get(f"{store}/files", {"below": f"out/{self.run.id}"})["files"]:
            with server.stream(f"{store}/content?path={quote(each['path'])}") as answer:
                found[each["path"].partition(f"{self.run.id}/")[2]] = b"".join(answer)
        return found


def test_all_of_it_at_the_end(run: RunOnServer, tmp_path: Path) -> None:
    writing = Writing(run, tmp_path, mode="upload", globs=["*.csv", "deep/*"])
    content = {"a.csv": b"1,2", "deep/ü.txt": b"", "left.txt": b"out"}
    for name, text in content.items():
        (writing.folder / name).write_bytes(text)
    writing.data.upload_settled()
    assert writing.stored() == {}, "an upload comes when the script has ended"
    writing.data.upload_all()
    assert writing.stored() == {"a.csv": b"1,2", "deep/ü.txt": b""}
    assert writing.data.failures == []


def test_what_settles_is_delivered_while_the_script_runs_and_again_when_it_changes(
    run: RunOnServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "SETTLED_AFTER", 0.0)
    writing = Writing(run, tmp_path, mode="mount")
    (writing.folder / "a").write_bytes(b"1")
    writing.data.upload_settled()
    writing.data.upload_settled()
    assert writing.stored() == {"a": b"1"}
    (writing.folder / "a").write_bytes(b"22")
    writing.data.upload_all()
    assert writing.stored() == {"a": b"22"}


def test_a_file_that_is_there_is_not_replaced_unless_it_came_from_here(run: RunOnServer, tmp_path: Path) -> None:
    writing = Writing(run, tmp_path, mode="upload")
    (writing.folder / "a").write_bytes(b"1")
    writing.data.upload_all()
    (writing.folder / "a").write_bytes(b"another run's")
    second = DataOutput(writing.client, writing.plan, writing.output, writing.folder, again=False)
    second.upload_all()
    assert writing.stored() == {"a": b"1"}
    end = tell(writing.client, writing.plan, [second], ended("completed"))
    assert (end["outcome"], end["error"]["code"]) == ("failed", "OutputNotDelivered")
    assert "already" in end["error"]["message"]
    taken_over = DataOutput(writing.client, writing.plan, writing.output, writing.folder, again=True)
    taken_over.upload_all()
    assert writing.stored() == {"a": b"another run's"}
    assert tell(writing.client, writing.plan, [taken_over], ended("completed"))["outcome"] == "completed"


def test_what_is_behind_a_link_or_shared_is_not_delivered_here(run: RunOnServer, tmp_path: Path) -> None:
    writing = Writing(run, tmp_path, path_on_compute="shared")
    assert data_outputs(writing.client, writing.plan, tmp_path, False, shares_work=True) == []
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "shared").symlink_to(tmp_path)
    assert data_outputs(writing.client, writing.plan, tmp_path, False, shares_work=False) == []


def test_nodes_of_a_gang_do_not_replace_each_others_files(run: RunOnServer, tmp_path: Path) -> None:
    first = Writing(run, tmp_path / "0", mode="upload")
    (first.folder / "a.csv").write_bytes(b"of node 0")
    first.data.upload_all()
    other = tmp_path / "1" / "data-outputs" / "made"
    (other / "deep").mkdir(parents=True)
    (other / "a.csv").write_bytes(b"of node 1")
    (other / "b").write_bytes(b"its own")
    launch = replace(first.plan.launch, distribution={"kind": "plain", "nodes": 2})
    plan = replace(first.plan, node=1, launch=launch)
    for again in (False, True):
        second = DataOutput(first.client, plan, first.output, other, again=again)
        second.upload_all()
        assert second.failures == []
    stored = first.stored()
    assert (stored["a.csv"], stored["a.node-1.csv"], stored["b"]) == (b"of node 0", b"of node 1", b"its own")
