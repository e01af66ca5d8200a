"""An environment: the Python, the packages, the image and the variables that a run gets.

Here it is described. Registering it in a workspace is in `catalogue`, its builds in `builds`.
"""

from __future__ import annotations

import copy
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from runyard.sdk.configuration import Configuration, of
from runyard.sdk.environment import requirements_files
from runyard.sdk.environment.conda_dependencies import CREATED_PYTHON, CondaDependencies
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.sdk.environment.sections import (
    DEFAULT_CPU_IMAGE,
    DatabricksSection,
    DockerBuildContext,
    DockerImageDetails,
    DockerSection,
    PythonSection,
    SparkSection,
)
from runyard.sdk.exceptions import UserErrorException
from runyard.system.records import field, record

if TYPE_CHECKING:
    from runyard.sdk.environment.builds import ImageBuildDetails
    from runyard.sdk.workspace.workspace import Workspace

DEFINITION_FILE = "azureml_environment.json"
CONDA_FILE = "conda_dependencies.yml"
DOCKER_FILE = "BaseDockerfile"
EXAMPLE_VARIABLES = {"EXAMPLE_ENV_VAR": "EXAMPLE_VALUE"}


@record(repr=False, init=False)
class Environment(Configuration):
    """A named environment.

    >>> environment = Environment("user-managed-env")
    >>> environment.python.user_managed_dependencies = True
    """

    name: str | None = None
    version: str | None = None
    python: PythonSection = field(default_factory=PythonSection, metadata=of(PythonSection))
    docker: DockerSection = field(default_factory=DockerSection, metadata=of(DockerSection))
    _environment_variables: dict[str, str] = field(default_factory=lambda: dict(EXAMPLE_VARIABLES))
    spark: SparkSection = field(default_factory=SparkSection, metadata=of(SparkSection))
    databricks: DatabricksSection = field(default_factory=DatabricksSection, metadata=of(DatabricksSection))
    r: Any = None
    inferencing_stack_version: str | None = None
    asset_id: str | None = None

    def __init__(self, name: str | None, **kwargs: Any) -> None:
        if not isinstance(name, (str, type(None))):
            raise TypeError(f"The name of an environment is a text, not {name!r}.")
        self._fill()
        self.name = name
        for key, value in kwargs.items():
            setattr(self, key, value)

    @property
    def environment_variables(self) -> dict[str, str]:
        return self._environment_variables

    @environment_variables.setter
    def environment_variables(self, value: dict[str, str]) -> None:
        warnings.warn(
            "environment.environment_variables is deprecated: set RunConfiguration.environment_variables.",
            DeprecationWarning,
            stacklevel=3,
        )
        self._environment_variables = value

    def is_untouched_default(self) -> bool:
        """Whether no Python, no packages and no image were chosen. Name and variables do not count."""
        docker = self.docker
        origin = (docker.base_image, docker.base_dockerfile, docker.build_context)
        return self.python == PythonSection() and origin == (DEFAULT_CPU_IMAGE, None, None)

    def clone(self, new_name: str) -> Environment:
        """A copy under another name, with no version yet."""
        if not isinstance(new_name, str) or not new_name:
            raise UserErrorException("The copy of an environment needs a name: clone(new_name='...').")
        made = copy.deepcopy(self)
        made.name = new_name
        made.version = None
        made.asset_id = None
        return made

    # -- in a workspace ---------------------------------------------------------------------------------------------

    def register(self, workspace: Workspace) -> Environment:
        """Register the environment in the workspace, and return it with its version.

        The same content again has the same version; other content gets the next one, unless `version` is set.
        """
        from runyard.sdk.environment import catalogue

        return catalogue.register(workspace, self)

    @staticmethod
    def get(workspace: Workspace, name: str, version: str | None = None, label: str | None = None) -> Environment:
        """The environment of this name: in a version, with a label, or (with neither) the latest.

        The curated names of SDK v1 (`AzureML-...`) need no registering.
        """
        from runyard.sdk.environment import catalogue

        return catalogue.get(workspace, name, version, label)

    @staticmethod
    def list(workspace: Workspace) -> dict[str, Environment]:
        """The environments of a workspace by name, each in its latest version."""
        from runyard.sdk.environment import catalogue

        return catalogue.listed(workspace)

    @staticmethod
    def label(workspace: Workspace, name: str, version: str, labels: Sequence[str]) -> None:
        """Put labels on a version, for `get(..., label=...)`. One that another version has moves here."""
        from runyard.sdk.environment import catalogue

        catalogue.label(workspace, name, version, labels)

    @staticmethod
    def add_private_pip_wheel(workspace: Workspace, file_path: str | os.PathLike[str], exist_ok: bool = False) -> str:
        """Store a wheel of your own in the workspace, and return the address for `add_pip_package`.

        Another wheel of that name is refused unless `exist_ok`; the address names this very content in any case.
        """
        from runyard.sdk.environment import catalogue

        return catalogue.keep_wheel(workspace, file_path, exist_ok)

    def build(self, workspace: Workspace, image_build_compute: str | None = None) -> ImageBuildDetails:
        """Register the environment, and build it ahead of its runs; returns at once.

        >>> environment.build(workspace).wait_for_completion(show_output=True)  # doctest: +SKIP
        """
        from runyard.sdk.environment import builds

        return builds.build(workspace, self, image_build_compute)

    def build_local(self, workspace: Workspace, platform: str | None = None, **kwargs: Any) -> ImageBuildDetails:
        """Build the environment on this machine and show how it goes; a failure raises.

        Of SDK v1's options, `useDocker` and `pushImageToWorkspaceAcr` are taken and change nothing: what the
        specification of the environment decides.
        """
        from runyard.sdk.environment import builds

        return builds.build_local(workspace, self, platform, kwargs)

    def get_image_details(self, workspace: Workspace) -> DockerImageDetails:
        """What is known of the image (or the interpreter) that this environment was last built as."""
        from runyard.sdk.environment import builds

        return builds.image_details(workspace, self)

    # -- from files and images --------------------------------------------------------------------------------------

    @staticmethod
    def from_existing_conda_environment(name: str, conda_environment_name: str) -> Environment | None:
        """An environment with the packages of a conda environment on this machine; None, and a warning with the reason,
        when it cannot be read."""
        from runyard.sdk.environment.conda_export import NoExport, exported

        made = Environment(name)
        try:
            made.python.conda_dependencies = exported(conda_environment_name)
        except NoExport as error:
            warnings.warn(f"The conda environment {conda_environment_name!r} could not be read: {error}.", stacklevel=2)
            return None
        return made

    @staticmethod
    def from_conda_specification(name: str, file_path: str | os.PathLike[str]) -> Environment:
        """An environment from a conda specification (YAML)."""
        made = Environment(name)
        made.python.conda_dependencies = _conda_dependencies(file_path)
        return made

    @staticmethod
    def from_pip_requirements(
        name: str, file_path: str | os.PathLike[str], pip_version: str | None = None
    ) -> Environment:
        """An environment from a pip requirements file."""
        made = Environment(name)
        _require(made, file_path)
        made.python.conda_dependencies.add_conda_package(f"pip={pip_version}" if pip_version else "pip")
        return made

    @staticmethod
    def from_docker_image(
        name: str,
        image: str,
        container_registry: ContainerRegistry | None = None,
        conda_specification: str | os.PathLike[str] | None = None,
        pip_requirements: str | os.PathLike[str] | None = None,
    ) -> Environment:
        """An environment from an image, used as it is unless packages are given as well."""
        made = Environment(name)
        made.docker.base_image = image
        if container_registry is not None:
            made.docker.base_image_registry = container_registry
        return _with_packages(made, conda_specification, pip_requirements)

    @staticmethod
    def from_dockerfile(
        name: str,
        dockerfile: Any,
        conda_specification: str | os.PathLike[str] | None = None,
        pip_requirements: str | os.PathLike[str] | None = None,
    ) -> Environment:
        """An environment from a Dockerfile (its text, its path or an open file)."""
        made = Environment(name)
        made.docker.base_dockerfile = dockerfile
        return _with_packages(made, conda_specification, pip_requirements)

    @staticmethod
    def from_docker_build_context(name: str, docker_build_context: DockerBuildContext) -> Environment:
        """An environment from a folder with a Dockerfile."""
        made = Environment(name)
        made.docker.build_context = docker_build_context
        made.python.user_managed_dependencies = True
        return made

    def save_to_directory(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the environment to a folder of its own: a JSON file, the conda specification, the Dockerfile if any."""
        folder = Path(path)
        if folder.exists() and not overwrite:
            raise FileExistsError(f"{folder} exists: give another folder, or overwrite=True.")
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / DEFINITION_FILE, json.dumps(self.to_dict(), indent=4) + "\n")
        self.python.conda_dependencies.save(folder / CONDA_FILE)
        if self.docker.base_dockerfile is not None:
            _write(folder / DOCKER_FILE, self.docker.base_dockerfile)
        elif (folder / DOCKER_FILE).exists():
            (folder / DOCKER_FILE).unlink()

    @staticmethod
    def load_from_directory(path: str | os.PathLike[str]) -> Environment:
        """Read what `save_to_directory` wrote, with later edits of the conda specification and the Dockerfile."""
        folder = Path(path)
        definition = folder / DEFINITION_FILE
        if not definition.is_file():
            raise FileNotFoundError(f"{folder} holds no environment: there is no {DEFINITION_FILE} in it.")
        made = Environment.from_dict(json.loads(definition.read_text("utf-8")), str(definition))
        if (folder / CONDA_FILE).is_file():
            made.python.conda_dependencies = CondaDependencies(folder / CONDA_FILE)
        if (folder / DOCKER_FILE).is_file():
            made.docker.base_dockerfile = folder / DOCKER_FILE
        return made

    def _repr_html_(self) -> str:
        from runyard.contracts.environment import conda_name
        from runyard.contracts.secrets import mask
        from runyard.sdk.notebook import table

        image = self._origin()
        if self.python.user_managed_dependencies or self.is_untouched_default():
            python, packages = self._python_as_it_is(image), "as they are"
        else:
            wanted = self.python.conda_dependencies
            python = _pinned(wanted.get_python_version())
            named = [each for each in wanted.conda_packages if conda_name(each) != "python"]
            packages = ", ".join([*named, *wanted.pip_packages])
        row = (self.name, self.version, python, mask(packages), mask(image or "none: it runs on the machine itself"))
        return table(("Name", "Version", "Python", "Packages", "Image"), [row])

    def _origin(self) -> str:
        """Where the image comes from, in short; empty when none is used, as of those that are Azure's own."""
        from runyard.contracts.environment import AZURE_IMAGES

        docker = self.docker
        if docker.build_context is not None:
            return str(docker.build_context.location)
        if docker.base_dockerfile is not None:
            return "a Dockerfile"
        return "" if (docker.base_image or "").startswith(AZURE_IMAGES) else docker.base_image or ""

    def _python_as_it_is(self, image: str) -> str:
        """The Python of an environment for which none is built."""
        from runyard.sdk.submit.launch import DEFAULT_INTERPRETER

        if self.python.interpreter_path != DEFAULT_INTERPRETER:
            return self.python.interpreter_path
        return "that of the image" if image else "the one that submits the run"


class EnvironmentDefinition(Environment):
    """The old name of Environment."""

    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)


@record(repr=False)
class EnvironmentReference(Configuration):
    """An environment given by its name and version only."""

    name: str | None = None
    version: str | None = None

    def get_environment(self, workspace: Workspace) -> Environment:
        """The environment that is meant; without a version, the latest."""
        if not self.name:
            raise UserErrorException("The reference to an environment needs its name.")
        return Environment.get(workspace, self.name, self.version)


def _pinned(version: str | None) -> str:
    """A Python that was chosen explicitly. SDK v1's default does not count."""
    from runyard.contracts.environment import STOCK_PYTHONS

    return version if version and version not in STOCK_PYTHONS else "any"


def _conda_dependencies(path: str | os.PathLike[str]) -> CondaDependencies:
    packages = CondaDependencies.read(path)
    if packages.get_python_version() is None:
        warnings.warn(
            f"{os.fspath(path)} does not say which Python it is for; python={CREATED_PYTHON} is taken.", stacklevel=3
        )
        packages.set_python_version(CREATED_PYTHON)
    return packages


def _require(environment: Environment, path: str | os.PathLike[str]) -> None:
    environment.python.conda_dependencies.set_pip_requirements(requirements_files.read(path))


def _with_packages(
    made: Environment,
    conda_specification: str | os.PathLike[str] | None,
    pip_requirements: str | os.PathLike[str] | None,
) -> Environment:
    if conda_specification is not None and pip_requirements is not None:
        raise UserErrorException("Give either conda_specification or pip_requirements, not both.")
    if conda_specification is not None:
        made.python.conda_dependencies = _conda_dependencies(conda_specification)
    elif pip_requirements is not None:
        _require(made, pip_requirements)
        made.python.conda_dependencies.add_conda_package("pip")
    else:
        made.python.user_managed_dependencies = True
    return made


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
