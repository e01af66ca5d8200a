"""`Model.get_model_path`: where the files of a model are, in a service, in a run, and anywhere else.

A service finds its models beside it; a run and a notebook fetch theirs once, into `azureml-models/<name>/<version>/`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Iterator

from runyard.sdk.exceptions import ModelNotFoundException, WebserviceException
from runyard.sdk.model import arguments
from runyard.sdk.model.fetching import bring_once
from runyard.sdk.model.refusals import translated
from runyard.sdk.model.registering import address

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

FOLDER = "azureml-models"


def model_path(model_name: str, version: int | None = None, workspace: Workspace | None = None) -> str:
    name = arguments.checked_name(model_name)
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise WebserviceException(f"The version of a model is a whole number (int), not {version!r}.")
    if workspace is None and in_a_service():
        return _of_a_service(name, version)
    return str(_fetched(workspace or _workspace(), name, version))


def in_a_service() -> bool:
    """Whether this process answers requests: then its models lie beside it, and it need not reach a server."""
    return bool(os.environ.get("AML_APP_ROOT") or os.environ.get("AZUREML_MODEL_DIR"))


def _of_a_service(name: str, version: int | None) -> str:
    looked = []
    for folder in dict.fromkeys(_folders()):
        looked.append(str(folder / name))
        found = _version_in(folder / name, version)
        if found is not None:
            return str(found)
    beside = Path(name)
    if version is None and beside.exists():
        return str(beside)
    wanted = name if version is None else f"{name}:{version}"
    raise ModelNotFoundException(
        f"ModelNotFound: the model {wanted} is not among those of this service. Looked for in: {', '.join(looked)}."
    )


def _folders() -> Iterator[Path]:
    """The folders in which models may lie, by name and version."""
    root, models = os.environ.get("AML_APP_ROOT"), os.environ.get("AZUREML_MODEL_DIR")
    if root:
        yield Path(root) / FOLDER
    if models:  # that of the one model, <folder>/<name>/<version>, or the folder of all
        yield from (Path(models).parent.parent, Path(models))
    yield Path(FOLDER)


def _version_in(folder: Path, version: int | None) -> Path | None:
    """The one entry of a version, by default of the highest."""
    try:
        versions = sorted((int(each) for each in os.listdir(folder) if each.isdigit()), reverse=True)
    except OSError:
        return None
    for number in versions if version is None else [version] if version in versions else []:
        entries = sorted(each for each in os.listdir(folder / str(number)) if not each.startswith("."))
        if len(entries) == 1:
            return folder / str(number) / entries[0]
        if entries:
            return folder / str(number)
    return None


def _workspace() -> Workspace:
    """That of the run, or the one that a config.json names."""
    from runyard.sdk.workspace.workspace import Workspace

    return Workspace.from_config()


def _fetched(workspace: Workspace, name: str, version: int | None) -> Path:
    with translated():
        document = workspace.service.get(address(workspace, name, "latest" if version is None else version))
    return bring_once(workspace, document, Path(FOLDER) / name / str(document["version"]))
