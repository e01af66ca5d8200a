"""Runs in containers, from the environment of an SDK v1 script to their end, with a real Docker engine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from tests.journeys.conftest import Yard
from tests.support import wheels
from tests.support.docker_engine import BASE, DockerEngine, client_of, containers_of

from azureml.core import Environment, Experiment, Run, ScriptRunConfig
from azureml.core.conda_dependencies import CondaDependencies
from azureml.core.runconfig import DockerConfiguration
from azureml.exceptions import ActivityFailedException

pytestmark = pytest.mark.xdist_group("docker")

BUILD_LOG = "system_logs/environment.log"


@pytest.fixture
def engine(docker_engine: DockerEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[docker.DockerClient]:
    """The engine as the server finds it, with no container left of the test, and no image of its environments."""
    monkeypatch.setenv("DOCKER_HOST", docker_engine.address)
    with client_of(docker_engine) as client:
        yield client
        for tag in {tag for image in client.images.list("runyard/environment") for tag in image.tags} - {BASE}:
            client.images.remove(tag)


def in_container(yard: Yard, environment: Environment, script: str, *arguments: str) -> Run:
    config = ScriptRunConfig(
        source_directory=str(yard.project(script)),
        script="train.py",
        compute_target="local",
        environment=environment,
        docker_runtime_config=DockerConfiguration(use_docker=True, arguments=list(arguments), shm_size="64m"),
    )
    return Experiment(yard.workspace, "containers").submit(config)


def image_as_it_is() -> Environment:
    return Environment.from_docker_image("base", BASE)


def read(run: Run, name: str) -> str:
    texts: dict[str, str] = run.get_details_with_logs()["logFiles"]
    return texts.get(name, "")


def test_a_dockerfile_with_packages_on_top_is_built_once_and_trains(
    yard: Yard, engine: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels.wheel(tmp_path / "shelf", "tiny-thing", "1.5")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    environment = Environment("mine")
    environment.docker.base_image = None
    environment.docker.base_dockerfile = f"FROM {BASE}\nRUN echo from the Dockerfile >/told\n"
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["tiny-thing==1.5"])
    script = """
        import os
        import tiny_thing
        from azureml.core import Run
        run = Run.get_context()
        run.log("loss", 0.25)
        os.makedirs("outputs", exist_ok=True)
        with open("outputs/model.txt", "w") as file:
            file.write(open("/told").read() + tiny_thing.__version__)
        print("trained in", os.getcwd())
    """
    run = in_container(yard, environment, script)
    run.wait_for_completion()
    assert run.get_metrics() == {"loss": 0.25}
    run.download_file("outputs/model.txt", str(tmp_path / "model.txt"))
    assert (tmp_path / "model.txt").read_text() == "from the Dockerfile\n1.5"
    assert "trained in" in read(run, "user_logs/std_log.txt")
    assert "Successfully installed tiny-thing-1.5" in read(run, BUILD_LOG)
    again = in_container(yard, environment, script)
    again.wait_for_completion()
    assert "Successfully installed" not in read(again, BUILD_LOG)
    used = [each.get_properties()["runyard.environment.used"] for each in (run, again)]
    assert used[0] == used[1]
    assert engine.images.list(used[0])


def test_a_step_that_fails_fails_the_run_before_its_script(yard: Yard, engine: docker.DockerClient) -> None:
    environment = Environment.from_dockerfile("broken", f"FROM {BASE}\nRUN echo the disk is torn; exit 4\n")
    run = in_container(yard, environment, "print('never')")
    with pytest.raises(ActivityFailedException, match="exit code 4"):
        run.wait_for_completion()
    assert "the disk is torn" in read(run, BUILD_LOG)
    assert "never" not in read(run, "user_logs/std_log.txt")


def test_how_a_program_in_a_container_ended_is_told(yard: Yard, engine: docker.DockerClient) -> None:
    run = in_container(yard, image_as_it_is(), "held = []\nwhile True: held.append(b'x' * 2**20)", "--memory", "64m")
    with pytest.raises(ActivityFailedException, match="SIGKILL"):
        run.wait_for_completion()
    assert "ran out of memory (--memory 64m)" in read(run, "user_logs/std_log.txt")


def test_a_cancelled_run_takes_its_container_along(yard: Yard, engine: docker.DockerClient) -> None:
    run = in_container(yard, image_as_it_is(), "import time\nprint('ready')\ntime.sleep(600)")
    yard.wait(lambda: engine.containers.list(ignore_removed=True), "the container to start")
    run.cancel()
    yard.wait(lambda: run.get_status() == "Canceled", "the run to be cancelled")
    yard.wait(lambda: not containers_of(engine), "the container to go")


def test_a_killed_node_runner_leaves_no_container(yard: Yard, engine: docker.DockerClient) -> None:
    run = in_container(yard, image_as_it_is(), "import time\nprint('ready')\ntime.sleep(600)")
    folder = yard.home / "runs" / run.id
    log = folder / "streams/std_log.txt"
    yard.wait(lambda: log.exists() and "ready" in log.read_text(), "the script to start")
    os.kill(json.loads((folder / "runner.lock").read_text())["pid"], signal.SIGKILL)
    yard.wait(lambda: run.get_status() == "Failed", "the run to be rescued")
    yard.wait(lambda: not containers_of(engine), "the container to go")
    assert "ready" in read(run, "user_logs/std_log.txt")
