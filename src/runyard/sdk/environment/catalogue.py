"""The environments of a workspace: registering, finding, listing and labelling them, and the wheels and folders
that they are built from. What makes one version differ from another is decided by the server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from runyard.client.http import quote
from runyard.contracts.documents import EnvironmentDocument
from runyard.sdk.environment.environment import Environment
from runyard.sdk.environment.sections import DockerBuildContext
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.notices import notice

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

CHUNK = 1 << 20
SNAPSHOTS = "runyard://snapshots/"


def register(workspace: Workspace, environment: Environment) -> Environment:
    """Register an environment. The same content again is the same version; other content is the next one."""
    if not environment.name:
        raise UserErrorException("An environment is registered under its name: set environment.name first.")
    if environment.version is not None:
        notice(
            f"The environment {environment.name!r} is registered as version {environment.version!r}, because that is "
            "set. With environment.version = None it gets the next free one."
        )
    return _from_document(
        workspace.service.post(_address(workspace), {"definition": environment.to_dict()}, idempotent=True)
    )


def get(workspace: Workspace, name: str, version: str | None = None, label: str | None = None) -> Environment:
    """The environment of this name: in a version, with a label, or (with neither) the latest."""
    if version is not None and label is not None:
        raise UserErrorException(
            f"Environment.get was given a version ({version!r}) and a label ({label!r}) of {name!r}: give one of them."
        )
    params = {"version": None if version is None else str(version), "label": label}
    return _from_document(workspace.service.get(_address(workspace, _name(name)), params))


def listed(workspace: Workspace) -> dict[str, Environment]:
    """The latest version of each environment by name, curated ones included."""
    answer = workspace.service.get(_address(workspace))
    return {document["name"]: _from_document(document) for document in answer["environments"]}


def label(workspace: Workspace, name: str, version: str, labels: Sequence[str]) -> None:
    """Put labels on a version; one that another version has moves here."""
    if isinstance(labels, str) or not all(isinstance(each, str) and each for each in labels):
        raise UserErrorException(f"Labels are given as a list of texts, such as ['stable'], not as {labels!r}.")
    address = _address(workspace, _name(name), "versions", str(version), "labels")
    workspace.service.put(address, {"labels": list(labels)})


def keep_wheel(workspace: Workspace, file_path: str | os.PathLike[str], exist_ok: bool = False) -> str:
    """Upload a wheel to the workspace, and return its address for use in requirements."""
    file = Path(file_path)
    if not file.is_file():
        raise UserErrorException(f"There is no wheel at {file.absolute()}.")
    if file.suffix != ".whl" or file.name.count("-") < 4:
        raise UserErrorException(
            f"{file.name!r} is no wheel: the name of one looks like package-1.0-py3-none-any.whl, and says what is in "
            "it. `pip wheel --no-deps .` makes one of a project."
        )
    address = f"/api/workspaces/{quote(workspace.name)}/wheels/{quote(file.name)}"
    stored = workspace.service.put(
        address,
        params={"exist_ok": bool(exist_ok)},
        body=lambda: _pieces(file),
        length=file.stat().st_size,
    )
    return str(stored["address"])


def store_folder(workspace: Workspace, path: str | os.PathLike[str], dockerfile_path: str) -> DockerBuildContext:
    """Upload a folder that an image is built from to the workspace."""
    from runyard.sdk.snapshot.ignore import ignored_by
    from runyard.sdk.snapshot.snapshot import take_snapshot

    folder = Path(path)
    if not folder.is_dir():
        raise UserErrorException(f"The build context {str(path)!r} is no folder (looked for at {folder.absolute()}).")
    dockerfile = os.path.normpath(dockerfile_path).replace(os.sep, "/")
    if dockerfile.startswith(("../", "/")) or not (folder / dockerfile).is_file():
        raise UserErrorException(
            f"There is no Dockerfile {dockerfile_path!r} in {folder.absolute()}. Its path, told by dockerfile_path, "
            "begins at the folder."
        )
    if ignored_by(folder)(dockerfile):
        raise UserErrorException(
            f"{dockerfile} would not be sent: .amlignore (or .gitignore) in {folder.absolute()} leaves it out."
        )
    return DockerBuildContext(
        DockerBuildContext.LocationType.StorageAccount,
        SNAPSHOTS + take_snapshot(workspace.service, folder),
        dockerfile,
    )


def _from_document(document: Mapping[str, Any]) -> Environment:
    fields = cast("EnvironmentDocument", document)
    found = Environment.from_dict(fields["definition"], f"the environment {fields['name']!r}")
    found.name, found.version = fields["name"], fields["version"]
    return found


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise UserErrorException(f"An environment is known by its name, which is a text, not {name!r}.")
    return name


def _address(workspace: Workspace, *parts: str) -> str:
    # A '/' in a name is escaped, so that it is not a step of the path.
    named = (quote(part).replace("/", "%2F") for part in parts)
    return "/".join((f"/api/workspaces/{quote(workspace.name)}/environments", *named))


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while True:
            piece = stream.read(CHUNK)
            if not piece:
                return
            yield piece
