"""The config.json of a workspace: finding it, reading it, writing it. SDK v1's places, in SDK v1's order."""

from __future__ import annotations

import json
import os
from pathlib import Path

from runyard.sdk.exceptions import UserErrorException
from runyard.system.records import record

CANDIDATES = (
    ".azureml/config.json",
    ".azureml/project.json",
    "aml_config/config.json",
    "aml_config/project.json",
    "config.json",
    "project.json",
)


@record(frozen=True)
class WorkspaceConfig:
    """Which workspace to use. `server` is the address of a server elsewhere."""

    subscription_id: str
    resource_group: str
    workspace_name: str
    server: str | None = None

    @property
    def scope(self) -> str:
        return (
            f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"
            f"/providers/Microsoft.MachineLearningServices/workspaces/{self.workspace_name}"
        )


def find_config(path: str | os.PathLike[str] | None, file_name: str | None = None) -> Path | None:
    """The file for `Workspace.from_config(path)`; None when there is none.

    A file is used as it is. From a folder, each candidate is looked for up to the root before the next is tried: a
    `.azureml/config.json` far up wins over a `config.json` right here.
    """
    start = Path(path) if path is not None else Path()
    if start.is_file():
        return start
    if path is not None and not start.exists():
        raise UserErrorException(
            f"There is no {start.absolute()}. Give the path of a config.json, or of the folder to look in."
        )
    here = start.resolve()
    names = CANDIDATES if file_name is None else [f"{folder}{file_name}" for folder in (".azureml/", "aml_config/", "")]
    for name in names:
        for folder in (here, *here.parents):
            candidate = folder / name
            if candidate.is_file():
                return candidate
    return None


def read_config(file: Path) -> WorkspaceConfig:
    """The content of a config.json; UserErrorException when something is missing."""
    try:
        document = json.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UserErrorException(f"{file} cannot be read as a config.json: {error}", inner_exception=error) from error
    if not isinstance(document, dict):
        raise UserErrorException(f"{file} must hold a JSON object with the workspace's keys.")
    server = document.get("Server")
    if "Scope" in document:
        parts = str(document["Scope"]).split("/")
        if len(parts) < 9 or not all(parts[at] for at in (2, 4, 8)):
            raise UserErrorException(
                f"The Scope in {file} is no id of a workspace: {document['Scope']!r}. It reads /subscriptions/<id>/"
                "resourceGroups/<group>/providers/Microsoft.MachineLearningServices/workspaces/<name>."
            )
        return WorkspaceConfig(parts[2], parts[4], parts[8], server)
    lacking = [key for key in ("subscription_id", "resource_group", "workspace_name") if not document.get(key)]
    if lacking:
        raise UserErrorException(
            f"{file} lacks {', '.join(lacking)}. It needs subscription_id, resource_group and workspace_name, or Scope."
        )
    return WorkspaceConfig(
        str(document["subscription_id"]), str(document["resource_group"]), str(document["workspace_name"]), server
    )


def write_config(config: WorkspaceConfig, path: str | os.PathLike[str] | None, file_name: str | None) -> Path:
    """Write the file where `from_config` finds it, and return its path."""
    top = Path(path) if path is not None else Path()
    folder = top / "aml_config" if (top / "aml_config").is_dir() else top / ".azureml"
    if file_name is not None:
        name = f"{os.path.splitext(file_name)[0]}.json"
    else:
        name = "project.json" if (folder / "project.json").is_file() else "config.json"
    document: dict[str, str | None] = {"Id": None, "Scope": config.scope}
    if config.server is not None:
        document["Server"] = config.server
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document, indent=4) + "\n", "utf-8")
    return folder / name
