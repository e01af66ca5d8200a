from pathlib import Path

import pytest
import yaml

from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.submit.runconfig import RunConfiguration


def configuration() -> RunConfiguration:
    made = RunConfiguration("train.py", ["--lr", 0.1])
    made.environment = Environment("mine")
    made.environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["torch==1.6.0"])
    made.docker.use_docker = True
    return made


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("folder", [".azureml", "aml_config"])
def test_saved_and_loaded(tmp_path: Path, folder: str, separate: bool) -> None:
    if folder == "aml_config":
        (tmp_path / folder).mkdir()
    configuration().save(tmp_path, "train.runconfig", separate_environment_yaml=separate)
    names = {"train.runconfig", "conda_dependencies.yml"} | ({"environment.yml"} if separate else set())
    assert {each.name for each in (tmp_path / folder).iterdir()} == names
    assert RunConfiguration.load(tmp_path, "train.runconfig") == configuration()
    assert RunConfiguration.load(str(tmp_path), "train") == configuration()
    assert RunConfiguration.load(tmp_path / folder / "train.runconfig") == configuration()


def test_the_file_is_camel_case_yaml(tmp_path: Path) -> None:
    configuration().save(tmp_path, "train")
    document = yaml.safe_load((tmp_path / ".azureml" / "train").read_text())
    assert document["nodeCount"] == 1
    assert document["environment"]["python"]["condaDependenciesFile"] == ".azureml/conda_dependencies.yml"
    assert "condaDependencies" not in document["environment"]["python"]
    separate = tmp_path / "separate"
    configuration().save(separate, "train", separate_environment_yaml=True)
    assert yaml.safe_load((separate / ".azureml" / "environment.yml").read_text())["name"] == "mine"


def test_without_a_path_it_goes_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    configuration().save(name="train")
    assert (tmp_path / ".azureml" / "train").is_file()


@pytest.mark.parametrize("name", [None, "", "../x"])
def test_it_needs_a_name(tmp_path: Path, name: "str | None") -> None:
    with pytest.raises(UserErrorException, match="file name"):
        configuration().save(tmp_path, name)


def test_a_configuration_beside_the_script_is_found_last(tmp_path: Path) -> None:
    (tmp_path / "x.runconfig").write_text("nodeCount: 2")
    assert RunConfiguration.load(tmp_path, "x").node_count == 2
    RunConfiguration().save(tmp_path, "x")
    assert RunConfiguration.load(tmp_path, "x").node_count == 1


def test_an_old_hand_written_file(tmp_path: Path) -> None:
    """As the command line of SDK v1 wrote them: snake_case in places, empty values, sections that are gone."""
    (tmp_path / "aml_config").mkdir()
    (tmp_path / "aml_config" / "conda_dependencies.yml").write_text("dependencies: [python=3.6.2, scikit-learn]")
    (tmp_path / "aml_config" / "local.runconfig").write_text(
        """
script: train.py
arguments: []
target: local
framework: Python
communicator: None
max_run_duration_seconds:
nodeCount: 1
environment:
  environmentVariables:
    EXAMPLE_ENV_VAR: EXAMPLE_VALUE
  python:
    userManagedDependencies: true
    interpreterPath: python
    condaDependenciesFile: aml_config/conda_dependencies.yml
  docker:
    enabled: false
    baseImage: mcr.microsoft.com/azureml/base:0.2.4
    baseImageRegistry:
      address:
      username:
      password:
history:
  outputCollection: true
batchai:
  nodeCount: 1
"""
    )
    with pytest.warns(UserWarning, match=r"local\.runconfig.*'batchai'"):
        loaded = RunConfiguration.load(tmp_path, "local")
    assert loaded.environment.python.user_managed_dependencies
    assert "scikit-learn" in loaded.environment.python.conda_dependencies.conda_packages
    assert loaded.max_run_duration_seconds is None
    assert loaded.environment.docker.base_image == "mcr.microsoft.com/azureml/base:0.2.4"


def test_faults_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.runconfig"):
        RunConfiguration.load(tmp_path, "none")
    (tmp_path / "a").write_text("environment: {python: {condaDependenciesFile: gone.yml}}")
    with pytest.raises(FileNotFoundError, match=r"gone\.yml"):
        RunConfiguration.load(tmp_path, "a")
    (tmp_path / "b").write_text("history: 3")
    with pytest.raises(RunConfigurationException, match=r"b\.history"):
        RunConfiguration.load(tmp_path, "b")
    (tmp_path / "c").write_text("environment: {python: 3}")
    with pytest.raises(RunConfigurationException, match=r"environment\.python"):
        RunConfiguration.load(tmp_path, "c")


def test_deleted(tmp_path: Path) -> None:
    configuration().save(tmp_path, "train.runconfig")
    RunConfiguration.delete(tmp_path, "train")
    assert not (tmp_path / ".azureml" / "train.runconfig").exists()
    assert (tmp_path / ".azureml" / "conda_dependencies.yml").exists()
    with pytest.raises(FileNotFoundError):
        RunConfiguration.delete(tmp_path, "train")
