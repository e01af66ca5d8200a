"""`InferenceConfig`: the script that answers requests, its folder and its environment. Checked when it is made."""

from __future__ import annotations

import ast
import keyword
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from runyard.sdk.exceptions import UserErrorException, WebserviceException

if TYPE_CHECKING:
    from runyard.sdk.environment.container_registry import ContainerRegistry
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.workspace.workspace import Workspace

RUNTIMES = ("python", "spark-py")
SERVED_BY = ("azureml-defaults", "azureml-inference-server-http", "azureml-model-management-sdk")
"""Packages that an image of Azure's needed to serve. Here they are in reach of every script."""
_OLD_FORM = (
    *("runtime", "conda_file", "extra_docker_file_steps", "enable_gpu", "cuda_version", "base_image"),
    "base_image_registry",
)


class InferenceConfig:
    """How a model is served: by a script with the functions `init()` and `run(data)`.

    >>> InferenceConfig(entry_script="score.py", source_directory="src", environment=env)  # doctest: +SKIP

    What SDK v1 took before it had environments (`runtime`, `conda_file`, `base_image`, ...) is turned into one.
    """

    def __init__(
        self,
        entry_script: str | os.PathLike[str],
        runtime: str | None = None,
        conda_file: str | os.PathLike[str] | None = None,
        extra_docker_file_steps: str | os.PathLike[str] | None = None,
        source_directory: str | os.PathLike[str] | None = None,
        enable_gpu: bool | None = None,
        description: str | None = None,
        base_image: str | None = None,
        base_image_registry: ContainerRegistry | None = None,
        cuda_version: str | None = None,
        environment: Environment | None = None,
    ) -> None:
        self.entry_script = entry_script
        self.runtime = runtime
        self.conda_file = conda_file
        self.extra_docker_file_steps = extra_docker_file_steps
        self.source_directory = source_directory
        self.enable_gpu = enable_gpu
        self.cuda_version = cuda_version
        self.description = description
        self.base_image = base_image
        self.base_image_registry = base_image_registry
        self.environment = environment
        self.validate_configuration()
        self.validation_script_content()

    # -- checks -----------------------------------------------------------------------------------------------------

    def validate_configuration(self) -> None:
        """Raise WebserviceException when the script is not there, or the settings do not go together."""
        if self.source_directory is not None and not os.path.isdir(self.source_directory):
            raise WebserviceException(f"The source_directory {os.fspath(self.source_directory)!r} is no folder.")
        self._check_script()
        if self.environment is not None:
            self._check_environment(self.environment)
            return
        if self.runtime is not None and str(self.runtime).lower() not in RUNTIMES:
            raise WebserviceException(f"runtime is one of {', '.join(RUNTIMES)}, not {self.runtime!r}.")
        for name in ("conda_file", "extra_docker_file_steps"):
            given = getattr(self, name)
            if given is not None and not self._place(given).is_file():
                raise WebserviceException(
                    f"There is no file {os.fspath(given)!r} ({name}): looked for at {self._place(given)}."
                )

    def _check_script(self) -> None:
        if not self.entry_script:
            raise WebserviceException(
                "entry_script is required: the file with the functions init() and run(). A model of a known framework "
                "is served without one: Model.deploy(workspace, name, [model])."
            )
        place = self._place(self.entry_script)
        if not place.is_file():
            from runyard.sdk.submit.submit import contents

            folder = Path(self.source_directory or ".")
            raise WebserviceException(f"There is no entry script at {place.absolute()}. {contents(folder)}")
        if place.suffix != ".py":
            raise WebserviceException(f"The entry script {place.name!r} is no Python file: its name must end in .py.")
        if not place.stem.isidentifier() or keyword.iskeyword(place.stem):
            raise WebserviceException(
                f"The entry script {place.name!r} cannot be imported under that name: use letters, digits and '_'."
            )
        if self.source_directory is not None and _outside(place, Path(self.source_directory)):
            raise WebserviceException(f"The entry script {place} lies outside of source_directory.")

    def _check_environment(self, environment: object) -> None:
        from runyard.sdk.environment.environment import Environment

        if not isinstance(environment, Environment):
            raise WebserviceException(f"environment is an Environment, not a {type(environment).__name__}.")
        old = [name for name in _OLD_FORM if getattr(self, name) not in (None, False)]
        if old:
            raise WebserviceException(f"Give environment, or {', '.join(old)}: both say where the script runs.")
        python = environment.python
        if python.user_managed_dependencies or environment.is_untouched_default():
            return
        named = [str(each).lower() for each in python.conda_dependencies.pip_packages]
        if not any(each.startswith(SERVED_BY) for each in named):
            warnings.warn(
                f"The environment {environment.name!r} does not list azureml-defaults. Azure's services needed it; "
                "here the script is served all the same.",
                stacklevel=4,
            )

    def validation_script_content(self) -> None:
        """Raise UserErrorException, with the line, when the entry script is no valid Python."""
        self._tree()

    def _tree(self) -> ast.Module:
        place = self._place(self.entry_script)
        try:
            return ast.parse(place.read_bytes(), str(place))
        except SyntaxError as error:
            said = f" `{error.text.strip()}`" if error.text else ""
            raise UserErrorException(
                f"The entry script {place} has a syntax error in line {error.lineno}:{said} ({error.msg}).",
                inner_exception=error,
            ) from None
        except ValueError as error:  # NUL bytes
            raise UserErrorException(
                f"The entry script {place} is no Python: {error}.", inner_exception=error
            ) from None

    def _check_functions(self) -> None:
        """Raise WebserviceException when the script surely has no init or no run."""
        bound = _bound_names(self._tree())
        missing = [] if bound is None else [name for name in ("init", "run") if name not in bound]
        if missing:
            raise WebserviceException(
                f"The entry script {self._place(self.entry_script)} has no function {' and no '.join(missing)}: "
                "it needs init(), which loads the model, and run(data), which answers a request."
            )

    # -- what it says -----------------------------------------------------------------------------------------------

    def _place(self, file: str | os.PathLike[str]) -> Path:
        """A file as it is meant: below the source_directory, where there is one."""
        return Path(self.source_directory or "") / file

    def _folder(self) -> Path:
        """The folder that is sent: the source_directory, else the folder of the script."""
        return (
            Path(self.source_directory) if self.source_directory else self._place(self.entry_script).absolute().parent
        )

    def _script(self) -> str:
        """The script's path in that folder, with '/'."""
        return os.path.relpath(self._place(self.entry_script).absolute(), self._folder().absolute()).replace(
            os.sep, "/"
        )

    def _environment(self, service: str) -> Environment:
        """The environment of the script. An old form becomes one named after the service."""
        from runyard.sdk.environment.conda_dependencies import CondaDependencies
        from runyard.sdk.environment.environment import Environment

        if self.environment is not None:
            return self.environment
        made = Environment(f"{service}-env")
        if self.conda_file is not None:
            made.python.conda_dependencies = CondaDependencies(self._place(self.conda_file))
        if self.base_image is not None:
            made.docker.base_image = self.base_image
            if self.conda_file is None:
                made.python.user_managed_dependencies = True
        if self.base_image_registry is not None:
            made.docker.base_image_registry = self.base_image_registry
        if self.extra_docker_file_steps is not None:
            steps = self._place(self.extra_docker_file_steps).read_text("utf-8")
            origin, made.docker.base_image = made.docker.base_image, None
            made.docker.base_dockerfile = f"FROM {origin}\n{steps}"
        if self.enable_gpu:
            with warnings.catch_warnings():  # SDK v1 calls the attribute deprecated; it is the one that is read
                warnings.simplefilter("ignore")
                made.docker.gpu_support = True
        return made

    # -- SDK v1's requests ------------------------------------------------------------------------------------------

    def build_create_payload(self, workspace: Workspace, name: str, model_ids: Sequence[str]) -> dict[str, Any]:
        """What SDK v1 sent to Azure for a service of this configuration. Runyard sends something else; this is for code
        that looks at it."""
        return {
            "name": name,
            "description": self.description,
            "environmentImageRequest": {
                "environment": self._environment(name).to_dict(),
                "driverProgram": self._script(),
                "assets": [],
                "modelIds": list(model_ids),
            },
        }

    def build_profile_payload(
        self,
        profile_name: str,
        input_data: str | None = None,
        workspace: Workspace | None = None,
        models: Sequence[Any] | None = None,
        dataset_id: str | None = None,
        container_resource_requirements: Any = None,
        description: str | None = None,
    ) -> dict[str, Any]:
        """What SDK v1 sent to Azure for a profile of this configuration, for code that looks at it."""
        return {
            "name": profile_name,
            "description": description,
            "inputData": input_data,
            "datasetId": dataset_id,
            "containerResourceRequirements": container_resource_requirements,
            "environmentImageRequest": {
                "environment": self._environment(profile_name).to_dict(),
                "driverProgram": self._script(),
                "modelIds": [getattr(each, "id", each) for each in models or ()],
            },
        }

    def __repr__(self) -> str:
        named = None if self.environment is None else self.environment.name
        return (
            f"InferenceConfig(entry_script={os.fspath(self.entry_script)!r}, "
            f"source_directory={self.source_directory and os.fspath(self.source_directory)!r}, environment={named!r})"
        )


def _outside(place: Path, folder: Path) -> bool:
    below = os.path.relpath(place.resolve(), folder.resolve())
    return below.startswith(os.pardir) or os.path.isabs(below)


def _bound_names(tree: ast.Module) -> set[str] | None:
    """The names that a module binds; None when it takes in names that cannot be seen (`from x import *`).

    >>> sorted(_bound_names(ast.parse("from model import init\\ndef run(data): pass")))
    ['init', 'run']
    """
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(each.name == "*" for each in node.names):
                return None
            bound.update((each.asname or each.name).split(".")[0] for each in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exec", "globals"):
            return None
    return bound
