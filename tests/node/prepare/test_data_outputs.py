"""Where a run writes its data: never outside of what was meant, and never into a folder that only looks right."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.data.outputs import Output
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare import data_outputs
from runyard.node.prepare.data_outputs import place_of, with_outputs
from runyard.node.problem import RunProblem

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer


def test_the_place_of_an_output(tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert place_of(Output("a"), tmp_path, work) == tmp_path / "data-outputs" / "a"
    assert place_of(Output("a", path_on_compute="x/y"), tmp_path, work) == work / "x" / "y"
    assert place_of(Output("a", path_on_compute="/x/../y"), tmp_path, work) == Path("/y")
    with pytest.raises(RunProblem, match="leaves the working folder"):
        place_of(Output("a", path_on_compute="../x"), tmp_path, work)


def plan_of(run: RunOnServer, folder: Path, output: Output) -> Plan:
    url = run.locator().url
    launch = Launch(command="true", outputs=[asdict(output)])
    return Plan(run.id, run.id, "e", "1", "local", "s", "g", "local", run.token, url, launch)


def test_a_datastore_on_a_disk_that_the_node_sees_is_written_to_directly(run: RunOnServer, tmp_path: Path) -> None:
    plan = plan_of(run, tmp_path, Output("made"))
    launch = with_outputs(plan, tmp_path, tmp_path / "work", lambda: None)
    place = Path(launch.environment_variables["AZUREML_DATAREFERENCE_made"])
    assert launch.environment_variables["AZUREML_DATASET_FILE_OUTPUTS"] == "made"
    assert place.resolve() == run.server.home / "datastores/local/workspaceblobstore/dataset" / run.id / "made"
    assert list(place.iterdir()) == [], "nothing of the way in which that was found out is left"


def test_a_folder_of_the_same_path_on_another_disk_is_not_taken_for_the_datastore_s(
    run: RunOnServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = data_outputs._datastore
    monkeypatch.setattr(data_outputs, "_datastore", lambda *a: {**found(*a), "settings": {"path": str(elsewhere)}})
    plan = plan_of(run, tmp_path, Output("made"))
    launch = with_outputs(plan, tmp_path, tmp_path / "work", lambda: None)
    place = Path(launch.environment_variables["made"])
    assert place.is_dir()
    assert not place.is_symlink()


def test_a_datastore_that_is_not_there_is_said_before_the_script_starts(run: RunOnServer, tmp_path: Path) -> None:
    with pytest.raises(RunProblem, match="nowhere"):
        with_outputs(plan_of(run, tmp_path, Output("made", "nowhere")), tmp_path, tmp_path / "work", lambda: None)
