"""The environments that a workspace keeps, asked of a real server."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from runyard.sdk.environment.environment import Environment, EnvironmentReference
from runyard.sdk.environment.sections import DockerBuildContext
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"mine-{uuid.uuid4().hex[:12]}"


def with_packages(name: str, *packages: str) -> Environment:
    environment = Environment(name)
    for package in packages:
        environment.python.conda_dependencies.add_pip_package(package)
    return environment


def test_the_version_follows_the_content(workspace: Workspace, name: str) -> None:
    environment = with_packages(name, "numpy")
    first = environment.register(workspace)
    assert (first.name, first.version) == (name, "1")
    assert environment.version is None
    assert environment.register(workspace).version == "1"
    environment.python.conda_dependencies.add_pip_package("torch")
    assert environment.register(workspace).version == "2"
    assert Environment.get(workspace, name).version == "2"
    assert Environment.get(workspace, name, version="1") == first
    assert Environment.get(workspace, name, "1").python.conda_dependencies.pip_packages == ["azureml-defaults", "numpy"]


def test_nothing_is_lost_on_the_way_through_the_server(workspace: Workspace, name: str) -> None:
    environment = Environment.from_dockerfile(name, "FROM ubuntu\n")
    environment.spark.repositories = ["https://r.example"]
    environment.environment_variables["A"] = "ü"
    stored = environment.register(workspace)
    environment.version = "1"
    assert stored == environment == Environment.get(workspace, name)
    assert with_packages("x").register(workspace).is_untouched_default()


def test_a_version_that_is_set_is_asked_for(workspace: Workspace, name: str, caplog: pytest.LogCaptureFixture) -> None:
    environment = with_packages(name, "numpy")
    environment.version = "stable.1"
    assert environment.register(workspace).version == "stable.1"
    assert "registered as version 'stable.1'" in caplog.text
    environment.python.conda_dependencies.add_pip_package("torch")
    with pytest.raises(UserErrorException, match=r"stable\.1.*holds something else"):
        environment.register(workspace)


def test_labels_point_at_versions(workspace: Workspace, name: str) -> None:
    with_packages(name, "numpy").register(workspace)
    with_packages(name, "torch").register(workspace)
    Environment.label(workspace, name, "1", ["stable"])
    assert Environment.get(workspace, name, label="stable").version == "1"
    Environment.label(workspace, name, "2", ["stable", "new"])
    assert Environment.get(workspace, name, label="stable").version == "2"
    with pytest.raises(UserErrorException, match="a list of texts"):
        Environment.label(workspace, name, "1", "stable")
    with pytest.raises(UserErrorException, match="old"):
        Environment.get(workspace, name, label="old")
    with pytest.raises(UserErrorException, match="give one of them"):
        Environment.get(workspace, name, version="1", label="stable")


def test_the_list_has_the_latest_of_each_name(workspace: Workspace, name: str) -> None:
    with_packages(name, "numpy").register(workspace)
    latest = with_packages(name, "torch").register(workspace)
    assert Environment.list(workspace)[name] == latest
    assert workspace.environments[name] == latest


def test_curated_names_need_no_registering(workspace: Workspace, tmp_path: Path) -> None:
    environment = Environment.get(workspace, name="AzureML-PyTorch-1.6-GPU")
    assert environment.name == "AzureML-PyTorch-1.6-GPU"
    assert any(line.startswith("torch") for line in environment.python.conda_dependencies.pip_packages)
    assert "AzureML-Minimal" in Environment.list(workspace)
    environment.save_to_directory(tmp_path / "saved")
    assert Environment.load_from_directory(tmp_path / "saved") == environment
    with pytest.raises(UserErrorException, match="curated"):
        environment.register(workspace)
    assert environment.clone(f"copy-{uuid.uuid4().hex}").register(workspace).version == "1"


def test_names_that_are_not_there(workspace: Workspace, name: str) -> None:
    with_packages(name).register(workspace)
    with pytest.raises(UserErrorException, match=f"no environment '{name}x'.*{name}"):
        Environment.get(workspace, f"{name}x")
    with pytest.raises(UserErrorException, match="no version '7'"):
        Environment.get(workspace, name, version="7")
    for bad in ("", None):
        with pytest.raises(UserErrorException, match="name"):
            Environment.get(workspace, bad)  # type: ignore[arg-type]
        with pytest.raises(UserErrorException, match="name"):
            Environment(bad).register(workspace)
    with pytest.raises(UserErrorException, match="slash"):
        Environment("a/b").register(workspace)
    with pytest.raises(UserErrorException):
        Environment.get(workspace, "a/b")


def test_a_reference_finds_its_environment(workspace: Workspace, name: str) -> None:
    first = with_packages(name, "numpy").register(workspace)
    latest = with_packages(name, "torch").register(workspace)
    assert EnvironmentReference(name, "1").get_environment(workspace) == first
    assert EnvironmentReference(name).get_environment(workspace) == latest
    with pytest.raises(UserErrorException, match="name"):
        EnvironmentReference().get_environment(workspace)


def test_secrets_stay_with_the_server(workspace: Workspace, name: str, server_home: Path) -> None:
    environment = with_packages(name, "numpy")
    environment.python.conda_dependencies.set_pip_index_url("https://me:hush-9f2c@i.example/simple")
    stored = environment.register(workspace)
    assert "hush-9f2c" not in str(stored.to_dict())
    assert environment.register(workspace).version == stored.version == "1"
    assert all(b"hush-9f2c" not in file.read_bytes() for file in server_home.glob("*.db*"))


def test_a_private_wheel(workspace: Workspace, name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    file.write_bytes(b"one")
    address = Environment.add_private_pip_wheel(workspace, file)
    assert address.startswith("runyard://wheels/")
    assert address.endswith(f"/{file.name}")
    file.write_bytes(b"two")
    with pytest.raises(UserErrorException, match="already"):
        Environment.add_private_pip_wheel(workspace, file)
    other = Environment.add_private_pip_wheel(workspace, str(file), exist_ok=True)
    assert other != address
    stored = with_packages(name, other).register(workspace)
    assert other in stored.python.conda_dependencies.pip_packages


def test_what_is_no_wheel_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UserErrorException, match="There is no wheel at"):
        Environment.add_private_pip_wheel(workspace, tmp_path / "x-1.0-py3-none-any.whl")
    for name in ("x.tar.gz", "x.whl"):
        (tmp_path / name).write_text("")
        with pytest.raises(UserErrorException, match=f"'{name}' is no wheel"):
            Environment.add_private_pip_wheel(workspace, tmp_path / name)


def test_a_folder_to_build_in(workspace: Workspace, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "context"
    (folder / "docker").mkdir(parents=True)
    (folder / "docker" / "Dockerfile").write_text("FROM ubuntu\n")
    context = DockerBuildContext.from_local_directory(workspace, folder, "docker/Dockerfile")
    assert context.location is not None
    assert context.location.startswith("runyard://snapshots/")
    assert context.dockerfile_path == "docker/Dockerfile"
    environment = Environment.from_docker_build_context(name, context)
    assert environment.register(workspace).docker.build_context == context
    (folder / "docker" / "Dockerfile").write_text("FROM debian\n")
    assert DockerBuildContext.from_local_directory(workspace, folder, "docker/Dockerfile").location != context.location


def test_a_folder_without_its_dockerfile_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UserErrorException, match="is no folder"):
        DockerBuildContext.from_local_directory(workspace, tmp_path / "nowhere")
    folder = tmp_path / "context"
    folder.mkdir()
    (tmp_path / "Dockerfile").write_text("FROM ubuntu\n")
    for path in ("Dockerfile", "../Dockerfile", str(tmp_path / "Dockerfile")):
        with pytest.raises(UserErrorException, match="There is no Dockerfile"):
            DockerBuildContext.from_local_directory(workspace, folder, path)
    (folder / "Dockerfile").write_text("FROM ubuntu\n")
    (folder / ".amlignore").write_text("Docker*\n")
    with pytest.raises(UserErrorException, match="leaves it out"):
        DockerBuildContext.from_local_directory(workspace, folder)
