import io
import warnings
from pathlib import Path

import pytest

from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.sections import (
    DEFAULT_CPU_IMAGE,
    DatabricksSection,
    DockerBuildContext,
    DockerImageDetails,
    DockerImagePlatform,
    DockerSection,
    PythonSection,
    SparkPackage,
    SparkSection,
)


def test_python_defaults() -> None:
    python = PythonSection()
    assert python.interpreter_path == "python"
    assert python.user_managed_dependencies is False
    assert python.conda_dependencies == CondaDependencies()


def test_python_takes_its_attributes_by_name() -> None:
    assert PythonSection(interpreter_path="/p").interpreter_path == "/p"
    with pytest.raises(AttributeError, match="interpreter_path"):
        PythonSection(interpreter="/p")


def test_setting_the_conda_file_reads_it(tmp_path: Path) -> None:
    file = CondaDependencies.create(conda_packages=["numpy"]).save(tmp_path)
    python = PythonSection()
    python.conda_dependencies_file = file
    assert python.conda_dependencies_file == file
    assert "numpy" in python.conda_dependencies.conda_packages
    with pytest.raises(FileNotFoundError):
        python.conda_dependencies_file = "nowhere.yml"
    assert python.conda_dependencies_file == file


def test_docker_defaults() -> None:
    docker = DockerSection()
    assert docker.base_image == DEFAULT_CPU_IMAGE
    assert (docker.shm_size, docker.enabled, docker.shared_volumes, docker.arguments) == ("2g", False, True, [])


def test_an_image_has_one_origin() -> None:
    docker = DockerSection()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        docker.base_image = "mine"  # the default goes without a word
    with pytest.warns(UserWarning, match=r"base_image is cleared, because docker\.base_dockerfile"):
        docker.base_dockerfile = "FROM ubuntu"
    assert docker.to_dict()["baseImage"] is None
    assert docker.base_dockerfile == "FROM ubuntu"
    with pytest.warns(UserWarning, match="base_dockerfile is cleared"):
        docker.build_context = DockerBuildContext(DockerBuildContext.LocationType.Git, "https://g.example/x.git")
    assert docker.to_dict()["baseImage"] is None
    assert docker.to_dict()["baseDockerfile"] is None
    with pytest.warns(UserWarning, match="build_context is cleared"):
        docker.base_image = "other"
    assert docker.build_context is None


def test_warnings_point_at_the_users_line() -> None:
    docker = DockerSection(base_image="mine")
    with pytest.warns(UserWarning, match="cleared") as seen:
        docker.base_dockerfile = "FROM ubuntu"
    assert seen.pop(UserWarning).filename == __file__
    with pytest.warns(DeprecationWarning, match=r"DockerConfiguration\(use_docker=") as seen:
        docker.enabled = True
    assert seen.pop(DeprecationWarning).filename == __file__


def test_the_round_trip_keeps_that_there_is_no_image() -> None:
    docker = DockerSection(base_dockerfile="FROM ubuntu")
    assert DockerSection.from_dict(docker.to_dict()) == docker
    assert DockerSection.from_dict({}).base_image == DEFAULT_CPU_IMAGE


def test_a_dockerfile_comes_from_a_text_a_path_or_an_open_file(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM ubuntu\n")
    for document in (file, str(file), io.StringIO("FROM ubuntu\n"), io.BytesIO(b"FROM ubuntu\n"), "FROM ubuntu\n"):
        assert DockerSection(base_dockerfile=document).base_dockerfile == "FROM ubuntu\n"
    for missing in (tmp_path / "none", "./nowhere"):
        with pytest.raises(FileNotFoundError, match="no Dockerfile"):
            DockerSection(base_dockerfile=missing)


def test_a_build_context_is_plain_when_written() -> None:
    context = DockerBuildContext(DockerBuildContext.LocationType.StorageAccount, "https://s.example")
    assert type(context.to_dict()["locationType"]) is str
    assert DockerBuildContext.from_dict(context.to_dict()) == context


def test_the_platform_is_open_and_the_image_is_closed() -> None:
    DockerImagePlatform().variant = "v8"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        DockerSection().image = "x"  # type: ignore[attr-defined]


def test_spark_and_databricks_are_kept() -> None:
    spark = SparkSection(["https://r.example"], [SparkPackage("g", "a", "1")])
    assert SparkSection().precache_packages is True
    assert SparkSection.from_dict(spark.to_dict()) == spark
    bricks = DatabricksSection(pypi_libraries=[{"package": "x"}])
    assert DatabricksSection.from_dict(bricks.to_dict()) == bricks


def test_image_details_are_a_dictionary_with_names() -> None:
    details = DockerImageDetails(
        imageExistsInRegistry=True,
        dockerImage={"name": "env/x", "registry": {"address": "reg.example"}},
        pythonEnvironment={"interpreterPath": "/bin/python", "condaEnvironmentPath": "/env"},
        ingredients={"dockerfile": "FROM ubuntu"},
    )
    assert details.image_exist
    assert details.image == "reg.example/env/x"
    assert (details.repository, details.registry.address) == ("env/x", "reg.example")
    assert (details.interpreter_path, details.environment_path) == ("/bin/python", "/env")
    assert details.dockerfile == "FROM ubuntu"
    assert DockerImageDetails().image is None
