"""Builds of environments: real runs on a real server."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from runyard.sdk.environment.builds import ImageBuildDetails
from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import ActivityFailedException, UserErrorException
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def managed() -> Environment:
    """An environment that is there already, under a name that no other test uses."""
    environment = Environment(f"mine-{uuid.uuid4().hex[:12]}")
    environment.python.user_managed_dependencies = True
    return environment


@pytest.fixture
def impossible() -> Environment:
    """An environment that no machine can build, however many packages it can reach."""
    environment = Environment(f"bad-{uuid.uuid4().hex[:12]}")
    environment.python.conda_dependencies.set_python_version("2.5.1")
    return environment


def test_a_build_is_a_run_that_does_nothing(
    workspace: Workspace, managed: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    build = managed.build(workspace)
    assert isinstance(build, ImageBuildDetails)
    assert build.wait_for_completion() is build
    shown = capsys.readouterr().out
    assert "There was nothing to build" in shown
    assert shown.endswith("Image Build Status: Succeeded\n")
    assert build.status == build.environment_build_status == "Succeeded"
    assert build.get_log() == ""
    run = Run.get(workspace, build.run.id)
    assert (run.type, run.experiment.name) == ("azureml.environment-build", "environment-builds")
    assert run.display_name == f"build of {managed.name}:1"
    assert "ContentSnapshotId" not in run.get_properties()
    assert run.get_environment().name == managed.name
    assert Environment.get(workspace, str(managed.name)) == build.environment
    assert repr(build) == f"ImageBuildDetails({managed.name}:1, Succeeded)"
    assert f"<td>{managed.name}:1</td><td>Succeeded</td>" in build._repr_html_()


def test_a_build_that_fails_says_why_and_does_not_raise(
    workspace: Workspace, impossible: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    build = impossible.build(workspace).wait_for_completion(show_output=True)
    assert build.status == "Failed"
    shown = capsys.readouterr().out
    assert "Image Build Status: Failed" in shown
    assert "2.5.1" in shown
    assert "2.5.1" in build.get_log()
    assert build.log_url.startswith("http")
    assert "/files/system_logs/environment.log?" in build.log_url
    assert not impossible.get_image_details(workspace).image_exist


def test_a_local_build_that_fails_raises(workspace: Workspace, impossible: Environment) -> None:
    with pytest.raises(ActivityFailedException, match=r"2\.5\.1"):
        impossible.build_local(workspace)


def test_a_local_build_takes_the_options_of_sdk_v1(
    workspace: Workspace, managed: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    build = managed.build_local(workspace, useDocker=True, pushImageToWorkspaceAcr=True)
    assert build.status == "Succeeded"
    assert "without a container" in caplog.text
    assert "no registry" in caplog.text
    with pytest.raises(UserErrorException, match="no option 'use_docker'"):
        managed.build_local(workspace, use_docker=True)
    with pytest.raises(UserErrorException, match="'Windows'"):
        managed.build_local(workspace, platform="Windows")


def test_what_is_kept_already_is_built_as_it_is(
    workspace: Workspace, managed: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    stored = managed.register(workspace)
    assert stored.build(workspace).wait_for_completion(show_output=False).environment == stored
    assert "registered as version" not in caplog.text
    with pytest.raises(UserErrorException, match="name"):
        Environment(None).build(workspace)
    with pytest.raises(UserErrorException, match="no compute target 'gpu-cluster'"):
        stored.build(workspace, image_build_compute="gpu-cluster")


def test_the_details_of_an_image(workspace: Workspace, managed: Environment) -> None:
    managed.python.interpreter_path = "/usr/bin/python3"
    managed.register(workspace)
    details = managed.get_image_details(workspace)
    assert (details.image_exist, details.image) == (False, None)
    assert details.interpreter_path == "/usr/bin/python3"
    written = Environment.from_dockerfile(f"{managed.name}-image", "FROM ubuntu\n")
    with pytest.raises(UserErrorException, match="no environment"):
        written.get_image_details(workspace)
    written.register(workspace)
    assert written.get_image_details(workspace).dockerfile == "FROM ubuntu\n"
    with pytest.raises(UserErrorException, match="name"):
        Environment(None).get_image_details(workspace)


def test_packages_are_built_once(workspace: Workspace, managed: Environment, tmp_path: Path) -> None:
    environment = Environment(managed.name)
    packages = environment.python.conda_dependencies
    packages.set_pip_requirements(["--no-index", f"--find-links {tmp_path}"])  # which no other environment has
    packages.set_python_version("3")
    build = environment.build(workspace).wait_for_completion(show_output=False)
    assert build.status == "Succeeded", build.error_text()
    assert build.get_log()
    used = build.run.get_properties()["runyard.environment.used"]
    assert environment.get_image_details(workspace).interpreter_path == used
    again = environment.build(workspace).wait_for_completion(show_output=False)
    assert (again.status, again.get_log()) == ("Succeeded", "")
    assert again.run.get_properties()["runyard.environment.used"] == used
