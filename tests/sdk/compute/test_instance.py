"""A compute instance takes runs while it is started, and is checked as on Azure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.instance import ComputeInstance, ComputeInstanceStatus
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.workspace.workspace import Workspace


def test_an_instance_takes_runs_while_it_is_started(
    workspace: Workspace, experiment: Experiment, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = ComputeInstance.provisioning_configuration(vm_size="STANDARD_D3_V2")
    made = ComputeInstance.create(workspace, name, configuration)
    assert isinstance(made, ComputeInstance)
    made.wait_for_completion(show_output=True)
    assert made.get_status().state == "Running"
    assert ComputeInstanceStatus.deserialize(made.status.serialize()) == made.status
    (tmp_path / "train.py").write_text("pass")
    config = ScriptRunConfig(str(tmp_path), "train.py", compute_target=made)
    experiment.submit(config).wait_for_completion()
    made.stop(wait_for_completion=True, show_output=True)
    assert capsys.readouterr().out.endswith("Stopped\n")
    with pytest.raises(UserErrorException, match=name):
        experiment.submit(config)
    made.start(wait_for_completion=True)
    assert ComputeInstance(workspace, name).status.state == "Running"
    with pytest.raises(ComputeTargetException, match="delete"):
        made.detach()
    made.delete(wait_for_completion=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ssh_public_access": True}, "admin_user_ssh_public_key"),
        ({"subnet_name": "s"}, "all three"),
        ({"assigned_user_object_id": "me"}, "give both"),
    ],
)
def test_instances_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
        ComputeInstance.provisioning_configuration(**settings)
