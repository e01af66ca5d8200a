"""The parts of an environment: Python, the container, Spark. Each is a plain description."""

from __future__ import annotations

import os
import warnings
from enum import Enum
from typing import TYPE_CHECKING, Any, Dict

from runyard.sdk.configuration import NULLABLE, Configuration, list_of, of
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.system.records import field, record

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

DEFAULT_CPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04:20251130.v1"
DEFAULT_GPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-cuda11.8-cudnn8-ubuntu22.04"


@record(repr=False, init=False)
class PythonSection(Configuration):
    """The interpreter and its packages.

    With `user_managed_dependencies` the interpreter at `interpreter_path` is used as it is; without, one is built from
    `conda_dependencies`.
    """

    interpreter_path: str = "python"
    user_managed_dependencies: bool = False
    conda_dependencies: CondaDependencies = field(default_factory=CondaDependencies, metadata=of(CondaDependencies))
    base_conda_environment: str | None = None
    _conda_dependencies_file: str | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._fill()
        for name, value in kwargs.items():
            setattr(self, name, value)

    @property
    def conda_dependencies_file(self) -> str | None:
        """The file that the packages were read from. Setting it reads them."""
        return self._conda_dependencies_file

    @conda_dependencies_file.setter
    def conda_dependencies_file(self, value: str | os.PathLike[str] | None) -> None:
        if value is not None:
            self.conda_dependencies = CondaDependencies.read(value)
        self._conda_dependencies_file = None if value is None else os.fspath(value)


@record(repr=False)
class DockerImagePlatform(Configuration):
    _open = True

    os: str = "Linux"
    architecture: str = "amd64"


@record(repr=False)
class DockerBuildContext(Configuration):
    """A folder that an image is built from: the address of a Git repository, or a result of `from_local_directory`."""

    class LocationType(str, Enum):
        Git = "git"
        StorageAccount = "storageaccount"

    location_type: str | None = None
    location: str | None = None
    dockerfile_path: str = "Dockerfile"

    @staticmethod
    def from_local_directory(
        workspace: Workspace, path: str | os.PathLike[str], dockerfile_path: str = "Dockerfile"
    ) -> DockerBuildContext:
        """A folder of this machine as it is now. It is uploaded, except what its `.amlignore` names."""
        from runyard.sdk.environment.catalogue import store_folder

        return store_folder(workspace, path, dockerfile_path)


def _moved(name: str) -> Any:
    """A property of a container's run time, which moved to DockerConfiguration in later versions of SDK v1."""
    behind = f"_{name}"

    def get(section: DockerSection) -> object:
        return getattr(section, behind)

    def put(section: DockerSection, value: object) -> None:
        instead = {"enabled": "use_docker", "gpu_support": "arguments"}.get(name, name)
        warnings.warn(
            f"environment.docker.{name} is deprecated: give "
            f"ScriptRunConfig(docker_runtime_config=DockerConfiguration({instead}=...)).",
            DeprecationWarning,
            stacklevel=3,
        )
        setattr(section, behind, value)

    return property(get, put, doc=f"Deprecated: see DockerConfiguration.{name}.")


@record(repr=False, init=False)
class DockerSection(Configuration):
    """The container image: one of a base image, a Dockerfile or a build context. Setting one clears the others."""

    _base_image: str | None = field(default=DEFAULT_CPU_IMAGE, metadata=NULLABLE)
    _base_dockerfile: str | None = None
    _build_context: DockerBuildContext | None = field(default=None, metadata=of(DockerBuildContext))
    base_image_registry: ContainerRegistry = field(default_factory=ContainerRegistry, metadata=of(ContainerRegistry))
    platform: DockerImagePlatform = field(default_factory=DockerImagePlatform, metadata=of(DockerImagePlatform))
    _enabled: bool = False
    _shared_volumes: bool = True
    _gpu_support: bool = False
    _arguments: list[str] = field(default_factory=list)
    _shm_size: str = "2g"

    def __init__(self, **kwargs: Any) -> None:
        self._fill()
        for name, value in kwargs.items():
            setattr(self, name, value)

    enabled = _moved("enabled")
    shared_volumes = _moved("shared_volumes")
    gpu_support = _moved("gpu_support")
    arguments = _moved("arguments")
    shm_size = _moved("shm_size")

    @property
    def base_image(self) -> str | None:
        return self._base_image

    @base_image.setter
    def base_image(self, value: str | None) -> None:
        self._settle("base_image", value)

    @property
    def base_dockerfile(self) -> str | None:
        """The text of a Dockerfile. It may be set from a text, from a file's path or from an open file."""
        return self._base_dockerfile

    @base_dockerfile.setter
    def base_dockerfile(self, value: Any) -> None:
        self._settle("base_dockerfile", None if value is None else _dockerfile_text(value))

    @property
    def build_context(self) -> DockerBuildContext | None:
        return self._build_context

    @build_context.setter
    def build_context(self, value: DockerBuildContext | None) -> None:
        self._settle("build_context", value)

    def _settle(self, chosen: str, value: object) -> None:
        if value is not None:
            for other in {"base_image", "base_dockerfile", "build_context"} - {chosen}:
                if getattr(self, other) not in (None, DEFAULT_CPU_IMAGE):
                    warnings.warn(
                        f"docker.{other} is cleared, because docker.{chosen} was set: an image has one origin.",
                        stacklevel=4,
                    )
                setattr(self, f"_{other}", None)
        setattr(self, f"_{chosen}", value)


def _dockerfile_text(given: Any) -> str:
    if hasattr(given, "read"):
        text = given.read()
        return text.decode("utf-8") if isinstance(text, bytes) else str(text)
    text = os.fspath(given)
    # Every instruction has a blank after its name: a text without any can only be a path.
    if isinstance(given, os.PathLike) or os.path.isfile(text) or not any(letter.isspace() for letter in text):
        if not os.path.isfile(text):
            raise FileNotFoundError(f"There is no Dockerfile at {text!r} (seen from {os.getcwd()}).")
        with open(text, encoding="utf-8") as file:
            return file.read()
    return str(text)


class DockerImageDetails(Dict[str, Any]):
    """What is known of the image of an environment."""

    @property
    def image_exist(self) -> bool:
        return bool(self.get("imageExistsInRegistry"))

    @property
    def repository(self) -> str | None:
        return self._part("dockerImage", "name")

    @property
    def registry(self) -> ContainerRegistry:
        return ContainerRegistry.from_dict((self.get("dockerImage") or {}).get("registry") or {})

    @property
    def image(self) -> str | None:
        """The name to pull it by."""
        address = self.registry.address
        return f"{address}/{self.repository}" if address and self.repository else self.repository

    @property
    def interpreter_path(self) -> str | None:
        return self._part("pythonEnvironment", "interpreterPath")

    @property
    def environment_path(self) -> str | None:
        return self._part("pythonEnvironment", "condaEnvironmentPath")

    @property
    def dockerfile(self) -> str | None:
        return self._part("ingredients", "dockerfile")

    def _part(self, group: str, name: str) -> str | None:
        value: str | None = (self.get(group) or {}).get(name)
        return value


@record(repr=False)
class SparkPackage(Configuration):
    group: str | None = None
    artifact: str | None = None
    version: str | None = None


@record(repr=False)
class SparkSection(Configuration):
    """Packages of a Spark job. Stored, and used by no engine of Runyard."""

    repositories: list[str] = field(default_factory=list)
    packages: list[SparkPackage] = field(default_factory=list, metadata=list_of(SparkPackage))
    precache_packages: bool = True


@record(repr=False)
class DatabricksSection(Configuration):
    """Libraries of a Databricks job. Stored, and used by no engine of Runyard."""

    maven_libraries: list[Any] = field(default_factory=list)
    pypi_libraries: list[Any] = field(default_factory=list)
    rcran_libraries: list[Any] = field(default_factory=list)
    jar_libraries: list[Any] = field(default_factory=list)
    egg_libraries: list[Any] = field(default_factory=list)
