from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.legacy import (
    AbstractComputeTarget,
    LocalTarget,
    attach_legacy_compute_target,
    is_compute_target_prepared,
    prepare_compute_target,
    remove_legacy_compute_target,
)
from runyard.sdk.exceptions import ComputeTargetException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.runconfig import RunConfiguration


def test_the_local_target() -> None:
    target = LocalTarget()
    assert (target.type, target.name) == ("local", "local")
    assert isinstance(target, AbstractComputeTarget)


def test_read_from_a_dictionary() -> None:
    assert isinstance(AbstractComputeTarget.deserialize_from_dict("here", {"type": "local"}), LocalTarget)
    with pytest.raises(ComputeTargetException, match=r"'far'.*'remote'"):
        AbstractComputeTarget.deserialize_from_dict("far", {"type": "remote"})


def test_folders_have_no_targets_of_their_own() -> None:
    nobody: Any = None
    attach_legacy_compute_target(nobody, ".", LocalTarget())
    with pytest.raises(ComputeTargetException, match=r"ComputeTarget\.create"):
        attach_legacy_compute_target(nobody, ".", AbstractComputeTarget("remote", "far"))
    with pytest.raises(ComputeTargetException, match="belong to the workspace"):
        remove_legacy_compute_target(nobody, ".", "far")


def test_preparing_a_target_builds_the_environment(experiment: Experiment, tmp_path: Path) -> None:
    run_config = RunConfiguration("train.py")
    assert is_compute_target_prepared(experiment, tmp_path, run_config)
    run = prepare_compute_target(experiment, tmp_path, run_config)
    assert run.wait_for_completion()["status"] == "Completed"
    run_config.environment.python.conda_dependencies.set_python_version("3")
    assert not is_compute_target_prepared(experiment, tmp_path, run_config)
