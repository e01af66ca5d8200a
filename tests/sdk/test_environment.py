import json
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.conda_dependencies import CondaDependencies
from runyard.sdk.container_registry import ContainerRegistry
from runyard.sdk.environment import Environment, EnvironmentDefinition, EnvironmentReference
from runyard.sdk.environment_sections import DockerBuildContext, DockerSection
from runyard.sdk.exceptions import UserErrorException


@pytest.fixture
def conda_file(tmp_path: Path) -> str:
    file = tmp_path / "conda_dependencies.yml"
    file.write_text("channels:\n- conda-forge\ndependencies:\n- python=3.6.2\n- pip:\n  - torch==1.6.0\n")
    return str(file)


@pytest.fixture
def pip_file(tmp_path: Path) -> str:
    file = tmp_path / "requirements.txt"
    file.write_text("# ours\ntorch==1.6.0\n")
    return str(file)


def test_defaults() -> None:
    environment = Environment("x")
    assert environment.version is None
    assert environment.environment_variables == {"EXAMPLE_ENV_VAR": "EXAMPLE_VALUE"}
    assert environment.spark.precache_packages is True
    assert environment.python.conda_dependencies == CondaDependencies()


def test_the_name_is_a_text_or_none() -> None:
    assert Environment(None).name is None
    assert Environment("AzureML-x").name == "AzureML-x"
    with pytest.raises(TypeError, match="3"):
        Environment(3)  # type: ignore[arg-type]


def test_attributes_by_name_and_none_that_are_unknown() -> None:
    assert Environment("x", inferencing_stack_version="latest").inferencing_stack_version == "latest"
    with pytest.raises(AttributeError, match="Did you mean 'python'"):
        Environment("x").pyton = None  # type: ignore[attr-defined]


def test_setting_variables_is_deprecated_but_works() -> None:
    environment = Environment("x")
    with pytest.warns(DeprecationWarning, match="RunConfiguration") as seen:
        environment.environment_variables = {"A": "1"}
    assert seen[0].filename == __file__
    assert environment.environment_variables == {"A": "1"}


def test_an_untouched_environment_needs_no_building() -> None:
    environment = Environment("x", version="1")
    environment.environment_variables["A"] = "1"
    assert environment.is_untouched_default()
    assert not environment.needs_building()
    environment.python.conda_dependencies.add_pip_package("torch")
    assert not environment.is_untouched_default()
    assert environment.needs_building()
    environment.python.user_managed_dependencies = True
    assert not environment.needs_building()


def test_an_image_of_ones_own_is_something_asked_for() -> None:
    for section in ({"base_image": "ubuntu"}, {"base_dockerfile": "FROM ubuntu"}):
        environment = Environment("x")
        environment.docker = DockerSection(**section)
        assert environment.needs_building()


def test_a_clone_stands_alone_and_has_no_version() -> None:
    environment = Environment("x", version="3")
    twin = environment.clone("y")
    twin.python.conda_dependencies.add_pip_package("torch")
    assert (twin.name, twin.version) == ("y", None)
    assert environment.version == "3"
    assert environment.python.conda_dependencies == CondaDependencies()
    with pytest.raises(UserErrorException, match="name"):
        environment.clone("")


def test_from_a_conda_specification(conda_file: str) -> None:
    environment = Environment.from_conda_specification("x", conda_file)
    assert environment.python.conda_dependencies.get_python_version() == "3.6.2"
    assert environment.python.conda_dependencies.pip_packages == ["torch==1.6.0"]
    assert environment.needs_building()


def test_a_conda_specification_without_python_gets_one(tmp_path: Path) -> None:
    (tmp_path / "x.yml").write_text("dependencies: [numpy]")
    with pytest.warns(UserWarning, match=r"x\.yml.*python=3\.10\.18"):
        environment = Environment.from_conda_specification("x", tmp_path / "x.yml")
    assert environment.python.conda_dependencies.get_python_version() == "3.10.18"


@pytest.mark.parametrize(("version", "package"), [(None, "pip"), ("20.1", "pip=20.1")])
def test_from_pip_requirements(pip_file: str, version: Any, package: str) -> None:
    packages = Environment.from_pip_requirements("x", pip_file, version).python.conda_dependencies
    assert packages.pip_packages == ["torch==1.6.0"]
    assert package in packages.conda_packages


def test_from_an_image(conda_file: str, pip_file: str) -> None:
    plain = Environment.from_docker_image("x", "ubuntu", ContainerRegistry("reg.example"))
    assert plain.docker.base_image == "ubuntu"
    assert plain.docker.base_image_registry.address == "reg.example"
    assert plain.python.user_managed_dependencies
    assert not Environment.from_docker_image(
        "x", "ubuntu", conda_specification=conda_file
    ).python.user_managed_dependencies
    packed = Environment.from_docker_image("x", "ubuntu", pip_requirements=pip_file)
    assert packed.python.conda_dependencies.pip_packages == ["torch==1.6.0"]
    with pytest.raises(UserErrorException, match="not both"):
        Environment.from_docker_image("x", "ubuntu", None, conda_file, pip_file)


def test_from_a_dockerfile(tmp_path: Path, conda_file: str, pip_file: str) -> None:
    (tmp_path / "Dockerfile").write_text("FROM ubuntu")
    environment = Environment.from_dockerfile("x", str(tmp_path / "Dockerfile"))
    assert environment.docker.base_dockerfile == "FROM ubuntu"
    assert environment.docker.base_image is None
    assert environment.python.user_managed_dependencies
    with pytest.raises(UserErrorException, match="not both"):
        Environment.from_dockerfile("x", "FROM ubuntu", conda_file, pip_file)


def test_from_a_build_context() -> None:
    environment = Environment.from_docker_build_context("x", DockerBuildContext("git", "https://g.example/x.git"))
    assert environment.docker.base_image is None
    assert environment.python.user_managed_dependencies


def test_saved_and_loaded(tmp_path: Path, conda_file: str) -> None:
    environment = Environment.from_dockerfile("x", "FROM ubuntu", conda_file)
    folder = tmp_path / "saved"
    environment.save_to_directory(folder)
    assert sorted(each.name for each in folder.iterdir()) == [
        "BaseDockerfile",
        "azureml_environment.json",
        "conda_dependencies.yml",
    ]
    assert json.loads((folder / "azureml_environment.json").read_text())["name"] == "x"
    assert Environment.load_from_directory(folder) == environment


def test_edits_to_the_saved_files_count(tmp_path: Path) -> None:
    Environment.from_dockerfile("x", "FROM ubuntu").save_to_directory(tmp_path / "e")
    CondaDependencies.create(conda_packages=["numpy"]).save(tmp_path / "e")
    (tmp_path / "e" / "BaseDockerfile").write_text("FROM debian")
    loaded = Environment.load_from_directory(tmp_path / "e")
    assert "numpy" in loaded.python.conda_dependencies.conda_packages
    assert loaded.docker.base_dockerfile == "FROM debian"


def test_a_folder_is_overwritten_only_when_asked(tmp_path: Path) -> None:
    Environment.from_dockerfile("x", "FROM ubuntu").save_to_directory(tmp_path / "e")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        Environment("y").save_to_directory(tmp_path / "e")
    Environment("y").save_to_directory(tmp_path / "e", overwrite=True)
    assert Environment.load_from_directory(tmp_path / "e") == Environment("y")


def test_a_folder_without_an_environment(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="azureml_environment"):
        Environment.load_from_directory(tmp_path)


def test_the_old_name_and_the_reference() -> None:
    assert isinstance(EnvironmentDefinition(), Environment)
    assert EnvironmentReference("x", "1").to_dict() == {"name": "x", "version": "1"}
