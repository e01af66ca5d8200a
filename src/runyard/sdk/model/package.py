"""`Model.package`: a folder that serves without Runyard, and with a container engine an image of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.contracts import home as homes
from runyard.contracts.environment import specification_of
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.model.package_folder import read_state, write_package

if TYPE_CHECKING:
    from runyard.sdk.environment.container_registry import ContainerRegistry
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.workspace.workspace import Workspace

RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
ENGINES = ("docker", "podman")
_IMAGE = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*")
_LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_CONTEXT, _LOG, _STATE, _DONE = "context", "build.log", "package.json", "done"


def package(
    workspace: Workspace,
    models: Sequence[Model],
    inference_config: InferenceConfig | None = None,
    generate_dockerfile: bool = False,
    image_name: str | None = None,
    image_label: str | None = None,
) -> ModelPackage:
    """Write the folder, and where an image is wanted begin to build it."""
    from runyard.sdk.model.deploying import model_ids, served_without_code
    from runyard.sdk.model.model import Model
    from runyard.sdk.submit.launch import specification_in

    image = _image(image_name, image_label)
    engine = None if generate_dockerfile else _engine()
    found = [each if isinstance(each, Model) else Model(workspace, id=each) for each in models]
    model_ids(workspace, models)
    source: Path | None = None
    script: str | None = None
    if inference_config is None:
        environment = _without_code(served_without_code(workspace, models))
        specification = specification_of(environment.to_dict())
    else:
        inference_config.validate_configuration()
        inference_config._check_functions()
        environment = inference_config._environment("package")
        specification = specification_in(environment)
        source, script = inference_config._folder(), inference_config._script()
    operation_id = uuid.uuid4().hex
    folder = _folder(operation_id)
    folder.mkdir(parents=True, mode=0o700)
    try:
        write_package(folder / _CONTEXT, found, specification, source, script)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if engine is not None:
        _build(folder, engine, image or f"package-{operation_id[:12]}:1")
    else:
        _record(folder, {"generateDockerfile": True, "location": str(folder / _CONTEXT)})
    return ModelPackage(workspace, operation_id, environment)


class ModelPackage:
    """A package: a folder with a Dockerfile (`save` copies it), or an image of this machine's container engine."""

    def __init__(self, workspace: Workspace, operation_id: str, environment: Environment | None) -> None:
        if not isinstance(operation_id, str) or not re.fullmatch("[0-9a-f]{32}", operation_id):
            raise WebserviceException(f"{str(operation_id)[:100]!r} is no operation of a package.")
        self.workspace = workspace
        self.environment = environment
        self._operation_id = operation_id
        self._place = _folder(operation_id)
        if not self._place.is_dir():
            raise WebserviceException(f"There is no package {operation_id} on this machine.")
        self.update_creation_state()

    @property
    def state(self) -> str:
        return self._state

    @property
    def location(self) -> str | None:
        """The folder, or the image's name, once it is there."""
        return self._told["location"] if self._state == SUCCEEDED else None

    @property
    def generate_dockerfile(self) -> bool:
        return bool(self._told["generateDockerfile"])

    def update_creation_state(self) -> None:
        """Look how far the package is."""
        self._told = read_state(self._place)
        done = self._place / _DONE
        if self._told["generateDockerfile"]:
            self._state = SUCCEEDED
        elif not done.exists():
            self._state = RUNNING
        else:
            self._state = SUCCEEDED if done.read_text().strip() == "0" else FAILED

    def wait_for_creation(self, show_output: bool = False) -> None:
        """Wait until the package is there; WebserviceException, with the end of the log, when it failed."""
        offset = 0
        while True:
            self.update_creation_state()
            if show_output:
                text = self.get_logs(offset=offset)
                offset += len(text.encode("utf-8"))
                print(text, end="", flush=True)
            if self._state != RUNNING:
                break
            time.sleep(0.2)
        print(f'Package creation has ended, state "{self._state}"')
        if self._state != SUCCEEDED:
            raise WebserviceException(f"The image could not be built:\n{self.get_logs()[-2000:]}")

    def get_logs(self, decode: bool = True, offset: int = 0) -> Any:
        """What the container engine has said; nothing for a folder."""
        try:
            content = (self._place / _LOG).read_bytes()[offset:]
        except FileNotFoundError:
            content = b""
        return content.decode("utf-8", "replace") if decode else content

    def pull(self) -> None:
        """The image is on this machine already: say where. WebserviceException for a folder."""
        if self.generate_dockerfile:
            raise WebserviceException(
                "This package is a folder with a Dockerfile, not an image: save(folder) copies it."
            )
        self._must_be_there()
        print(f"The image {self.location} is on this machine.")

    def save(self, output_directory: str | os.PathLike[str]) -> None:
        """Copy the folder: `python serve.py` in it serves. WebserviceException for an image."""
        if not self.generate_dockerfile:
            raise WebserviceException(
                "This package is an image, not a folder: package again with generate_dockerfile=True to get one."
            )
        self._must_be_there()
        target = Path(output_directory)
        if target.exists() and any(target.iterdir()):
            raise WebserviceException(f"The folder {target} is not empty: give another one.")
        target.mkdir(parents=True, exist_ok=True)
        context = self._place / _CONTEXT
        for each in context.iterdir():
            place = target / each.name
            shutil.copytree(each, place) if each.is_dir() else shutil.copyfile(each, place)

    def get_container_registry(self) -> ContainerRegistry:
        """No registry is involved: the image is this machine's."""
        from runyard.sdk.environment.container_registry import ContainerRegistry

        made = ContainerRegistry()
        made.address = "localhost"
        return made

    def serialize(self) -> dict[str, Any]:
        """The package as a dictionary, ready for JSON."""
        return {"generateDockerfile": self.generate_dockerfile, "state": self.state, "location": self.location}

    def _must_be_there(self) -> None:
        if self._state != SUCCEEDED:
            raise WebserviceException(f"The package is {self._state}: wait_for_creation() waits for it.")

    def __repr__(self) -> str:
        return f"ModelPackage(state={self.state!r}, location={self.location!r})"


def _without_code(models: Sequence[Model]) -> Environment:
    from runyard.contracts.services.runtime_environments import runtime_environment
    from runyard.sdk.environment.environment import Environment

    (model,) = models
    found = runtime_environment(str(model.model_framework), model.model_framework_version)
    if found is None:
        raise UserErrorException(f"A model of {model.model_framework!r} needs an InferenceConfig to be packaged.")
    return Environment.from_dict(found.definition, "the runtime's environment")


def _image(name: str | None, label: str | None) -> str | None:
    if label is not None and not (isinstance(label, str) and _LABEL.fullmatch(label)):
        raise WebserviceException(
            f"{str(label)[:100]!r} is no label of an image: use letters, digits, '.', '_' and '-'."
        )
    if name is None:
        return None
    if not isinstance(name, str) or not _IMAGE.fullmatch(name):
        raise WebserviceException(
            f"{str(name)[:100]!r} is no name of an image: use lower-case letters, digits and '-'."
        )
    return f"{name}:{label or 'latest'}"


def _engine() -> str:
    found = next((place for place in map(shutil.which, ENGINES) if place), None)
    if found is None:
        raise WebserviceException(
            "An image needs a container engine, and there is neither docker nor podman on this machine. "
            "Package with generate_dockerfile=True: the folder serves with Python alone."
        )
    return found


def _build(folder: Path, engine: str, image: str) -> None:
    """Begin to build. The shell writes how it ended, so that it can be known after this process."""
    _record(folder, {"generateDockerfile": False, "location": image})
    script = '"$1" build -t "$2" "$3" >"$4" 2>&1; echo $? >"$5.new"; mv "$5.new" "$5"'
    arguments = [engine, image, str(folder / _CONTEXT), str(folder / _LOG), str(folder / _DONE)]
    subprocess.Popen(
        ["sh", "-c", script, "sh", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _record(folder: Path, state: Mapping[str, Any]) -> None:
    (folder / _STATE).write_text(json.dumps(dict(state)) + "\n", "utf-8")


def _folder(operation_id: str) -> Path:
    return homes.home() / "packages" / operation_id
