"""What changed between two runs is named: a result that cannot be reproduced has a reason that one can look up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from azureml.core import Dataset, Experiment, ScriptRunConfig, Workspace
from runyard.cli import errors
from runyard.contracts.data import seen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_changed_files_are_named(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.call("data", "maps")  # the server runs
    monkeypatch.setenv("RUNYARD_HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    monkeypatch.setattr(seen, "SHOWN", 100)
    kept = tmp_path / "kept"
    kept.mkdir()
    names = [f"{number}.txt" for number in range(seen.SHOWN + 20)]  # too many for a property
    for name in names:
        (kept / name).write_text(name)
    prefix = "http://gone.example/compared/"
    shell.json("data", "map", prefix, str(kept))
    workspace = Workspace.from_config()
    dataset = Dataset.File.from_files([prefix + name for name in names]).register(workspace, "compared")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "x.py").write_text("print('done')")
    config = ScriptRunConfig(str(tmp_path / "src"), "x.py", [dataset.as_named_input("d").as_mount()])
    first = Experiment(workspace, "compared").submit(config)
    first.wait_for_completion()
    (kept / names[-1]).write_text("another")
    second = Experiment(workspace, "compared").submit(config)
    second.wait_for_completion()

    (change,) = shell.json("data", "compare", first.id, second.id)
    assert (change["same"], change["added"], change["removed"]) == (False, [], [])
    assert [path.rpartition("/")[2] for path in change["changed"]] == [names[-1]]
    assert "0 added, 0 removed, 1 changed" in shell.call("data", "compare", first.id, second.id).stdout
    assert "the same files" in shell.call("data", "compare", first.id, first.id).stdout

    shown = shell.json("data", "show", "compared")["runs"]
    assert [each["run"] for each in shown] == [second.id, first.id]
    assert [each["files"] for each in shown] == [len(names)] * 2
    assert shown[0]["digest"] != shown[1]["digest"]
    assert first.id in shell.call("data", "show", "compared").stdout
    assert shown[0]["digest"][:12] in shell.call("show", second.id).stdout
    assert second.get_details()["inputDatasets"][0]["seen"]["digest"] == shown[0]["digest"]
    assert "inputs/d.jsonl.gz" in first.get_file_names()
    shell.refusal("data", "compare", first.id, "nothing", expect=errors.NOT_FOUND)
