import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.environment import Specification, specification_of
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.container_registry import ContainerRegistry, RegistryIdentity
from runyard.sdk.environment.environment import Environment, EnvironmentDefinition, EnvironmentReference
from runyard.sdk.environment.sections import DEFAULT_CPU_IMAGE, DockerBuildContext, DockerSection
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.runconfig import RunConfiguration


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
    assert seen.pop(DeprecationWarning).filename == __file__
    assert environment.environment_variables == {"A": "1"}


def test_an_untouched_environment_needs_no_building() -> None:
    environment = Environment("x", version="1")
    environment.environment_variables["A"] = "1"
    assert environment.is_untouched_default()
    environment.python.conda_dependencies.add_pip_package("torch")
    assert not environment.is_untouched_default()


def test_an_image_of_ones_own_is_something_asked_for() -> None:
    for section in ({"base_image": "ubuntu"}, {"base_dockerfile": "FROM ubuntu"}):
        environment = Environment("x")
        environment.docker = DockerSection(**section)
        assert not environment.is_untouched_default()


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
    assert not environment.is_untouched_default()


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


def one_of_each(conda_file: str, pip_file: str) -> "dict[str, Environment]":
    registry = ContainerRegistry("reg.example", "me", "hush", RegistryIdentity(client_id="c"))
    managed = Environment("managed")
    managed.python.user_managed_dependencies = True
    managed.python.interpreter_path = "/opt/venv/bin/python"
    context = DockerBuildContext("storageaccount", "runyard://snapshots/abc", "docker/Dockerfile")
    return {
        "default": Environment("default"),
        "conda": Environment.from_conda_specification("conda", conda_file),
        "pip": Environment.from_pip_requirements("pip", pip_file, "24.0"),
        "image": Environment.from_docker_image("image", "me/image:1", registry),
        "image with packages": Environment.from_docker_image("both", "me/image:1", None, conda_file),
        "Dockerfile": Environment.from_dockerfile("dockerfile", "FROM ubuntu\n"),
        "Dockerfile with packages": Environment.from_dockerfile("both", "FROM ubuntu\n", None, pip_file),
        "context": Environment.from_docker_build_context("context", context),
        "managed": managed,
    }


KINDS = {
    "default": Specification(name="default", python="3.8.13", left_out=("azureml-defaults",)),
    "conda": Specification(name="conda", python="3.6.2", channels=("conda-forge",), pip=("torch==1.6.0",)),
    "pip": Specification(name="pip", python="3.8.13", conda=("pip=24.0",), pip=("torch==1.6.0",)),
    "image": Specification(
        name="image",
        image="me/image:1",
        user_managed=True,
        registry="reg.example",
        registry_user="me",
        registry_password="hush",
    ),
    "image with packages": Specification(
        name="both", image="me/image:1", python="3.6.2", channels=("conda-forge",), pip=("torch==1.6.0",)
    ),
    "Dockerfile": Specification(name="dockerfile", dockerfile="FROM ubuntu\n", user_managed=True),
    "Dockerfile with packages": Specification(
        name="both", dockerfile="FROM ubuntu\n", python="3.8.13", conda=("pip",), pip=("torch==1.6.0",)
    ),
    "context": Specification(
        name="context",
        context="runyard://snapshots/abc",
        context_dockerfile="docker/Dockerfile",
        user_managed=True,
    ),
    "managed": Specification(name="managed", user_managed=True, interpreter="/opt/venv/bin/python"),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_definition_says_what_is_built(conda_file: str, pip_file: str, kind: str) -> None:
    """What `to_dict` writes and what `specification_of` reads are two ends of one thing."""
    environment, wanted = one_of_each(conda_file, pip_file)[kind], KINDS[kind]
    if not (wanted.image or wanted.dockerfile or wanted.context):
        wanted = replace(wanted, image=DEFAULT_CPU_IMAGE)
    if wanted.python and not wanted.channels:
        wanted = replace(wanted, channels=("anaconda", "conda-forge"))
    assert specification_of(environment.to_dict()) == replace(wanted, interpreter=wanted.interpreter or "python")


@pytest.mark.parametrize("kind", list(KINDS))
def test_nothing_is_lost_on_the_way_through_files(tmp_path: Path, conda_file: str, pip_file: str, kind: str) -> None:
    environment = one_of_each(conda_file, pip_file)[kind]
    environment.save_to_directory(tmp_path / "saved")
    assert Environment.load_from_directory(tmp_path / "saved") == environment
    assert Environment.from_dict(json.loads(json.dumps(environment.to_dict()))) == environment
    configuration = RunConfiguration()
    configuration.environment = environment
    configuration.save(tmp_path / "project", "train")
    assert RunConfiguration.load(tmp_path / "project", "train").environment == environment


def test_empty_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing").write_text("")
    for read in (Environment.from_conda_specification, Environment.from_pip_requirements):
        with pytest.raises(UserErrorException, match="nothing holds no packages"):
            read("x", tmp_path / "nothing")
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read("x", tmp_path / "nowhere")
    with pytest.raises(UserErrorException, match="holds no packages"):
        Environment("x").python.conda_dependencies_file = str(tmp_path / "nothing")


def test_credentials_are_shown_nowhere(conda_file: str, pip_file: str) -> None:
    environment = one_of_each(conda_file, pip_file)["image"]
    environment.python.conda_dependencies.set_pip_index_url("https://me:hush@i.example")
    environment.python.conda_dependencies.add_pip_package("git+https://me:hush@g.example/a.git")
    context = Environment.from_docker_build_context("c", DockerBuildContext("git", "https://hush@g.example/x.git"))
    dockerfile = Environment.from_dockerfile("d", "FROM ubuntu\nRUN pip install -i https://me:hush@i.example x\n")
    managed = environment.clone("managed")
    managed.python.user_managed_dependencies = False
    for each in (environment, context, dockerfile, managed):
        assert "hush" not in repr(each)
        assert "hush" not in each._repr_html_()


def test_the_view_for_notebooks() -> None:
    environment = Environment("<x>", version="3")
    environment.python.conda_dependencies.add_pip_package("torch")
    shown = environment._repr_html_()
    assert "&lt;x&gt;" in shown
    for cell in ("3", "any", "azureml-defaults, torch", "none: it runs on the machine itself"):
        assert f"<td>{cell}</td>" in shown
    assert "<td>a Dockerfile</td>" in Environment.from_dockerfile("x", "FROM ubuntu")._repr_html_()


def test_the_view_shows_no_image_and_no_python_that_is_not_used() -> None:
    """SDK v1 fills in an image and a Python; Runyard uses neither unless they were chosen."""
    untouched = Environment("x")
    managed = Environment("x")
    managed.python.user_managed_dependencies = True
    pinned = Environment("x")
    pinned.python.conda_dependencies.set_python_version("3.9")
    for each in (untouched, managed, pinned):
        assert DEFAULT_CPU_IMAGE not in each._repr_html_()
        assert "3.8.13" not in each._repr_html_()
    assert "<td>the one that submits the run</td><td>as they are</td>" in untouched._repr_html_()
    assert "<td>3.9</td>" in pinned._repr_html_()
    managed.python.interpreter_path = "/opt/python"
    assert "<td>/opt/python</td>" in managed._repr_html_()
    image = Environment.from_docker_image("x", "pytorch/pytorch")._repr_html_()
    assert "<td>that of the image</td><td>as they are</td><td>pytorch/pytorch</td>" in image


def test_the_old_name_and_the_reference() -> None:
    assert isinstance(EnvironmentDefinition(), Environment)
    assert EnvironmentReference("x", "1").to_dict() == {"name": "x", "version": "1"}
