"""Environments as their users meet them: the seeds' own files, a pip file, an interpreter, a curated name.

Most packages here are tiny ones that the tests make and hand over as a folder that pip is configured to look into.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.journeys.conftest import Yard
from tests.support import wheels
from tests.support.seeds import PYTORCH_YAML

from azureml.core import Environment, Experiment, Run, ScriptRunConfig
from azureml.core.conda_dependencies import CondaDependencies
from azureml.exceptions import ActivityFailedException

BUILD_LOG = "system_logs/environment.log"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages: the only ones that there are for what this test starts."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in ("PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    return folder


def run_in(yard: Yard, environment: Environment, script: str, *arguments: object) -> Run:
    config = ScriptRunConfig(
        source_directory=str(yard.project(script)),
        script="train.py",
        arguments=list(arguments),
        compute_target="local",
        environment=environment,
    )
    return Experiment(yard.workspace, "environments").submit(config)


def read(run: Run, name: str) -> str:
    texts: dict[str, str] = run.get_details_with_logs()["logFiles"]
    return texts.get(name, "")


def runyard(*words: str) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("runyard")), *words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SEED_CODE = """
from azureml.core import Environment

pytorch_env = Environment.from_conda_specification(name='pytorch-1.6-gpu', file_path='./conda_dependencies.yml')

# Specify a GPU base image
pytorch_env.docker.enabled = True
pytorch_env.docker.base_image = 'mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04'
"""


def seed_environment() -> Environment:
    """What the seed makes, word for word, of the file beside it."""
    Path("conda_dependencies.yml").write_text(PYTORCH_YAML)
    names: dict[str, Any] = {}
    exec(SEED_CODE, names)
    made: Environment = names["pytorch_env"]
    return made


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_seeds_pins_are_refused_where_they_cannot_be_had(yard: Yard, shelf: Path) -> None:
    run = run_in(yard, seed_environment(), "print('never')")
    with pytest.raises(ActivityFailedException) as told:
        run.wait_for_completion()
    for text in (str(told.value), read(run, BUILD_LOG)):
        assert "python=3.6.2" in text
        assert "runyard config set environments.relax true" in text
    assert "Running" not in [state["status"] for state in states(run)]
    assert not [path for path in (yard.home / "environments").iterdir() if path.is_dir()], "a half-made one is left"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_seeds_pins_are_relaxed_where_the_workspace_allows_it(yard: Yard, shelf: Path) -> None:
    wheels.wheel(shelf, "torch", "1.13.1")
    wheels.wheel(shelf, "torch", "2.13.0")
    wheels.wheel(shelf, "torchvision", "0.14.1", requires=["torch==1.13.1"])
    wheels.wheel(shelf, "future", "0.17.1")
    wheels.wheel(shelf, "pillow", "12.0")
    assert yard.workspace.name
    runyard("config", "set", "environments.relax", "true")
    script = """
        import future, pillow, torch, torchvision
        from azureml.core import Run
        Run.get_context().log("loaded", 1)
        print("got", torch.__version__, torchvision.__version__, future.__version__, pillow.__version__)
    """
    run = run_in(yard, seed_environment(), script)
    run.wait_for_completion()
    assert "got 1.13.1 0.14.1 0.17.1 12.0" in read(run, "user_logs/std_log.txt")
    changes = json.loads(property_of(run, "runyard.environment.changes"))
    assert any("3.6.2" in each for each in changes)
    assert any("torch==1.6.0" in each and "1.13.1" in each for each in changes)
    assert any("torchvision==0.7.0" in each for each in changes)
    assert not any("future" in each or "pillow" in each for each in changes), "what can be had stays as it is"
    log = read(run, BUILD_LOG)
    assert all(each in log for each in changes)
    assert "azureml-defaults" in log, "the log says that the SDK is left out"
    assert run.get_metrics() == {"loaded": 1}


def test_a_pip_file_is_built_once_and_the_second_run_starts_at_once(yard: Yard, shelf: Path) -> None:
    wheels.wheel(shelf, "forecasts", "2.1")
    Path("requirements.txt").write_text("forecasts==2.1\nazureml-core\n")
    environment = Environment.from_pip_requirements("mine", "requirements.txt")
    script = "import forecasts, sys; print('version', forecasts.__version__, 'of', sys.prefix)"
    first = run_in(yard, environment, script)
    first.wait_for_completion(show_output=True)
    assert "version 2.1" in read(first, "user_logs/std_log.txt")
    assert "forecasts" in read(first, BUILD_LOG)
    assert "Preparing" in [state["status"] for state in states(first)]
    second = run_in(yard, environment.clone("another name"), script)
    second.wait_for_completion()
    assert read(second, BUILD_LOG) == "", "it was built again"
    assert key_of(second) == key_of(first)
    told = json.loads(runyard("env", "ls", "--json"))
    assert key_of(first) in json.dumps(told)


def test_ten_runs_at_once_build_it_once(yard: Yard, shelf: Path) -> None:
    # A package that takes a while to build, so that the others come while it is being built.
    wheels.source(shelf, "slowly", setup=wheels.buildable("slowly", before="time.sleep(2)"))
    environment = Environment("crowd")
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["slowly"])
    runs = [run_in(yard, environment, "import slowly; print('there')") for _ in range(10)]
    for run in runs:
        run.wait_for_completion()
    logs = [read(run, BUILD_LOG) for run in runs]
    assert sum("Built in" in log for log in logs) == 1
    assert len({key_of(run) for run in runs}) == 1


def test_a_cancel_during_the_build_leaves_nothing(yard: Yard, shelf: Path) -> None:
    started = shelf.parent / "slow-build"
    before = f"open({str(started)!r}, 'w').close(); time.sleep(600)"
    wheels.source(shelf, "slowly", setup=wheels.buildable("slowly", before=before))
    environment = Environment("long")
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["slowly"])
    run = run_in(yard, environment, "print('never')")
    yard.wait(started.exists, "the build to begin")
    run.cancel()
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Canceled"
    assert not [path for path in (yard.home / "environments").iterdir() if path.is_dir()]


def test_an_interpreter_that_is_there(yard: Yard, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    environment = Environment("user-managed")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = str(python)
    run = run_in(yard, environment, "import sys; from azureml.core import Run; print('prefix', sys.prefix)")
    run.wait_for_completion()
    assert f"prefix {tmp_path / 'venv'}" in read(run, "user_logs/std_log.txt")


def test_old_names_run_on_what_is_installed(yard: Yard, shelf: Path) -> None:
    environment = Environment.get(workspace=yard.workspace, name="AzureML-TensorFlow-2.2-GPU")
    runyard("env", "map", "AzureML-*", "--interpreter", sys.executable)
    run = run_in(yard, environment, "import sys; print('python', sys.executable)")
    run.wait_for_completion()
    assert f"python {sys.executable}" in read(run, "user_logs/std_log.txt")
    assert property_of(run, "runyard.environment.asked").startswith("AzureML-TensorFlow-2.2-GPU")
    assert sys.executable in property_of(run, "runyard.environment.mapped")


def test_building_before_the_first_run(yard: Yard, shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheels.wheel(shelf, "forecasts", "2.1")
    environment = Environment("ahead")
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["forecasts"])
    build = environment.build(yard.workspace)
    build.wait_for_completion(show_output=True)
    assert "forecasts" in capsys.readouterr().out
    assert build.status == "Succeeded"
    assert Environment.get(yard.workspace, "ahead").version == "1"
    run = run_in(yard, Environment.get(yard.workspace, "ahead"), "import forecasts")
    run.wait_for_completion()
    assert read(run, BUILD_LOG) == ""


def test_a_wheel_that_no_index_has(yard: Yard, shelf: Path) -> None:
    mine = wheels.wheel(shelf.parent / "dist", "mine", "3.0")
    environment = Environment("private")
    address = Environment.add_private_pip_wheel(yard.workspace, str(mine))
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=[address])
    run = run_in(yard, environment, "import mine; print('mine', mine.__version__)")
    run.wait_for_completion()
    assert "mine 3.0" in read(run, "user_logs/std_log.txt")


def test_a_password_is_nowhere_to_be_found(yard: Yard, shelf: Path) -> None:
    packages = CondaDependencies.create(pip_packages=["nothing-that-is-there"])
    packages.set_pip_option("--extra-index-url http://someone:p4ssw0rd@127.0.0.1:9/simple")
    environment = Environment("secretive")
    environment.python.conda_dependencies = packages
    environment.register(yard.workspace)
    run = run_in(yard, environment, "print('never')")
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Failed"
    yard.wait(lambda: not list((yard.home / "runs").iterdir()), "the run's folder to be removed")
    holders = [path for path in yard.home.rglob("*") if path.is_file() and b"p4ssw0rd" in path.read_bytes()]
    assert [path.parent.name for path in holders] == ["secrets"]
    assert holders[0].stat().st_mode & 0o077 == 0


def test_a_curated_name_is_built_from_what_its_frameworks_are_today(yard: Yard, shelf: Path) -> None:
    """Tiny packages stand for those that train: real ones do so in test_distributed_seeds.py, in an environment that
    the same builder has made."""
    for name, version in (("torch", "2.13.0"), ("numpy", "2.4.0"), ("tensorboard", "2.21.0")):
        wheels.wheel(shelf, name, version)
    curated_env_name = "AzureML-PyTorch-1.6-GPU"
    ws = yard.workspace
    pytorch_env = Environment.get(workspace=ws, name=curated_env_name)
    pytorch_env.save_to_directory(path=curated_env_name)
    script = """
        import numpy, tensorboard, torch
        from azureml.core import Run
        run = Run.get_context()
        run.log("torch", torch.__version__)
        with open("outputs/model.pt", "w") as file:
            file.write("weights")
    """
    run = run_in(yard, pytorch_env, script)
    run.wait_for_completion(show_output=True)
    assert run.get_metrics() == {"torch": "2.13.0"}
    assert "outputs/model.pt" in run.get_file_names()
    assert "AzureML-PyTorch-1.6-GPU" in read(run, BUILD_LOG), "the log says what the old name stands for"


def states(run: Run) -> list[dict[str, str]]:
    told = json.loads(runyard("show", run.id, "--json"))
    found: list[dict[str, str]] = told["states"]
    return found


def property_of(run: Run, name: str) -> str:
    return run.get_properties()[name] or ""


def key_of(run: Run) -> str:
    return property_of(run, "runyard.environment.key")
