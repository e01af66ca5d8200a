"""Compute targets against a real server: made, found, listed, changed, used and removed."""

from __future__ import annotations

import contextlib
import copy
import io
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.compute.targets import cluster
from tests.support.seeds import FIND_OR_MAKE_THE_CLUSTER
from tests.support.waiting import wait_until

from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.cluster import RayCompute
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.distributed import MpiConfiguration, PlainConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.workspace.workspace import Workspace

SNIPPET = (
    "from azureml.core.compute import ComputeTarget, AmlCompute\n"
    "from azureml.core.compute_target import ComputeTargetException\n" + FIND_OR_MAKE_THE_CLUSTER
)


def test_the_piece_of_code_that_all_pages_have(
    workspace: Workspace, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"ws": workspace, "cluster_name": name}
    exec(SNIPPET, names)
    shown = capsys.readouterr().out
    assert shown.startswith("Creating a new compute target...\nSucceeded: 0 of 0 nodes\n")
    assert type(names["compute_target"]) is AmlCompute
    exec(SNIPPET, names)
    assert capsys.readouterr().out == "Found existing compute target\n"
    exec("print(compute_target.get_status().serialize())", names)
    assert "'vmSize': 'STANDARD_NC6'" in capsys.readouterr().out


def test_what_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(ComputeTargetException, match=r"ComputeTargetNotFound: .*'nowhere'"):
        ComputeTarget(workspace, "nowhere")
    assert "nowhere" not in workspace.compute_targets


def test_a_target_is_found_as_what_it_is(workspace: Workspace, name: str) -> None:
    made = cluster(workspace, name, min_nodes=0, tags={"team": "birds"}, description="for birds")
    found = ComputeTarget(workspace, name)
    assert isinstance(found, AmlCompute)
    assert found == made
    assert isinstance(AmlCompute(workspace, name), AmlCompute)
    assert found.id.endswith(f"/workspaces/local/computes/{name}")
    assert (found.name, found.type, found.location, found.is_attached) == (name, "AmlCompute", "local", False)
    assert (found.tags, found.description) == ({"team": "birds"}, "for birds")
    assert (found.vm_size, found.vm_priority, found.provisioning_state) == ("STANDARD_NC6", "dedicated", "Succeeded")
    assert found.provisioning_errors is None
    assert found.created_on
    assert workspace.compute_targets[name] == found
    assert [each.name for each in ComputeTarget.list(workspace)].count(name) == 1
    assert repr(found) == f"AmlCompute(workspace='local', name='{name}', type='AmlCompute')"
    assert f"<td>{name}</td>" in found._repr_html_()
    assert copy.deepcopy(found.serialize()) == found.serialize()
    assert copy.copy(found) == found
    with pytest.raises(ComputeTargetException, match="'AmlCompute', which is not RayCompute"):
        RayCompute(workspace, name)


def test_a_target_as_a_dictionary(workspace: Workspace, name: str) -> None:
    made = cluster(workspace, name, idle_seconds_before_scaledown=60)
    reported = made.serialize()
    assert reported["properties"]["properties"]["scaleSettings"]["nodeIdleTimeBeforeScaleDown"] == "PT60S"
    again = ComputeTarget.deserialize(workspace, reported)
    assert type(again) is AmlCompute
    assert again.serialize() == reported


def test_this_machine_is_always_there(workspace: Workspace) -> None:
    here = ComputeTarget(workspace, "local")
    assert here.get_status() == "Succeeded"
    here.wait_for_completion(show_output=True)
    assert "local" not in workspace.compute_targets
    with pytest.raises(ComputeTargetException, match="always there"):
        here.delete()


def test_a_name_is_taken_once(workspace: Workspace, name: str) -> None:
    cluster(workspace, name)
    with pytest.raises(ComputeTargetException, match="already"):
        cluster(workspace, name)


@pytest.mark.parametrize("bad", ["", "a/b", "-x", "a" * 300])
def test_names_that_no_target_can_have(workspace: Workspace, bad: str) -> None:
    with pytest.raises(ComputeTargetException):
        cluster(workspace, bad)


def test_a_size_that_nobody_sells(workspace: Workspace, name: str) -> None:
    with pytest.raises(ComputeTargetException, match=r"'STANDARD_NC7'.*Standard_NC6"):
        cluster(workspace, name, vm_size="STANDARD_NC7")


def test_a_change_that_makes_no_sense(workspace: Workspace, name: str) -> None:
    made = cluster(workspace, name)
    for settings, message in (
        ({}, "Give min_nodes"),
        ({"min_nodes": 3}, "is less than min_nodes"),
        ({"max_nodes": -1}, "from 0 on"),
    ):
        with pytest.raises(ComputeTargetException, match=message):
            made.update(**settings)
    with pytest.raises(ComputeTargetException, match="delete"):
        made.detach()
    with pytest.raises(ComputeTargetException, match="Identities"):
        made.add_identity("SystemAssigned")


def test_a_target_goes(workspace: Workspace, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = cluster(workspace, name)
    made.delete()
    made.wait_for_completion(show_output=True, is_delete_operation=True)
    assert "is gone" in capsys.readouterr().out
    with pytest.raises(ComputeTargetException, match="ComputeTargetNotFound"):
        made.refresh_state()


def test_a_run_on_a_target(workspace: Workspace, experiment: Experiment, name: str, tmp_path: Path) -> None:
    made = cluster(workspace, name, max_nodes=1, idle_seconds_before_scaledown=0)
    (tmp_path / "train.py").write_text("import time; time.sleep(600)")
    run = experiment.submit(ScriptRunConfig(str(tmp_path), "train.py", compute_target=made))
    wait_until(lambda: run.get_status() == "Running")
    assert run.get_details()["target"] == name
    assert [(each.id, each.run_id) for each in made.get_active_runs()] == [(run.id, run.id)]
    (node,) = made.list_nodes()
    assert (node["nodeState"], node["runId"]) == ("running", run.id)
    status = made.get_status()
    assert status.node_state_counts is not None
    assert status.node_state_counts.running_node_count == status.current_node_count == 1
    with pytest.raises(ComputeTargetException, match=run.id):
        made.delete()
    run.cancel()
    run.wait_for_completion()
    assert list(made.get_active_runs()) == []


def test_more_nodes_than_a_target_can_have(
    workspace: Workspace, experiment: Experiment, name: str, tmp_path: Path
) -> None:
    cluster(workspace, name)
    (tmp_path / "train.py").write_text("pass")
    config = ScriptRunConfig(
        str(tmp_path), "train.py", compute_target=name, distributed_job_config=MpiConfiguration(node_count=3)
    )
    with pytest.raises(UserErrorException, match=f"3 nodes.*{name}|{name}.*3"):
        experiment.submit(config)


def test_a_gang_shows_the_log_of_its_first_process(
    workspace: Workspace, experiment: Experiment, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = cluster(workspace, name)
    (tmp_path / "train.py").write_text("import os\nprint('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])")
    config = ScriptRunConfig(
        str(tmp_path), "train.py", compute_target=made, distributed_job_config=PlainConfiguration(1, 2)
    )
    run = experiment.submit(config)
    assert run.wait_for_completion(show_output=True)["status"] == "Completed"
    shown = capsys.readouterr().out
    assert "Streaming user_logs/std_log_process_0.txt" in shown
    assert "rank 0 of 2\n" in shown
    assert "rank 1" not in shown
    logs = run.get_details_with_logs()["logFiles"]
    assert logs["user_logs/std_log_process_1.txt"] == "rank 1 of 2\n"
    assert {Path(path).name for path in run.get_all_logs(tmp_path / "logs")} >= {
        "std_log_process_0.txt",
        "std_log_process_1.txt",
    }


def test_a_run_that_starts_again_is_shown_from_its_beginning(
    workspace: Workspace, experiment: Experiment, name: str, tmp_path: Path
) -> None:
    script = (
        "import os, time\n"
        "again = os.environ['AZUREML_RUN_RESTART_COUNT'] != '0'\n"
        "print('the second time, which says more than the first' if again else 'the first time', flush=True)\n"
        "time.sleep(0 if again else 600)\n"
    )
    (tmp_path / "train.py").write_text(script)
    made = cluster(workspace, name, vm_priority="lowpriority")
    run = experiment.submit(ScriptRunConfig(str(tmp_path), "train.py", compute_target=made))
    screen = io.StringIO()

    def take_its_node_away() -> None:
        wait_until(lambda: "the first time\n" in screen.getvalue())
        workspace.service.post(f"/api/runs/{run.id}/preempt")

    taking = threading.Thread(target=take_its_node_away)
    taking.start()
    try:
        with contextlib.redirect_stdout(screen):
            assert run.wait_for_completion(show_output=True)["status"] == "Completed"
    finally:
        taking.join()
    after = screen.getvalue().partition("the first time\n")[2]
    assert "Queued: " in after
    assert "the second time, which says more than the first\n" in after.partition("Queued: ")[2]


def test_default_targets(workspace: Workspace) -> None:
    with pytest.raises(UserErrorException, match="'CPU' or 'GPU'"):
        workspace.get_default_compute_target("TPU")
    own = Workspace.create(
        f"w{uuid.uuid4().hex[:10]}", default_cpu_compute_target=AmlCompute.provisioning_configuration(max_nodes=1)
    )
    found = own.get_default_compute_target("CPU")
    assert found is not None
    assert found.name == "cpu-cluster"
    assert own.get_default_compute_target("gpu") is None
    own.delete()
