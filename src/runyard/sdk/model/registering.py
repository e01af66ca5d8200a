"""Registering a model: files of this machine, or what a run has in its history.

A request has a name of its own, so that it can be sent again when its answer was lost: nothing is registered twice.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from runyard.client.http import quote
from runyard.contracts import manifest, names
from runyard.sdk.exceptions import ModelPathNotFoundException, SnapshotException, WebserviceException
from runyard.sdk.model import arguments
from runyard.sdk.model.refusals import translated
from runyard.sdk.notices import notice
from runyard.sdk.run import file_transfer
from runyard.sdk.snapshot.snapshot import TooRestless, with_tree
from runyard.sdk.snapshot.tree import Found, Tree, walk

if TYPE_CHECKING:
    from runyard.contracts.documents import ModelDocument
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

SHIPPED = ("outputs/", "logs/")
"""Folders of a script whose files go to the history of its run by themselves, some time later."""


def address(workspace: Workspace, *parts: str | int) -> str:
    named = (quote(str(part)).replace("/", "%2F") for part in parts)
    return "/".join((f"/api/workspaces/{quote(workspace.name)}/models", *named))


def from_folder(
    workspace: Workspace,
    model_path: str | os.PathLike[str],
    model_name: str,
    child_paths: Sequence[str] | None,
    details: Mapping[str, Any],
    anywhere: bool = False,
) -> ModelDocument:
    """Register a file or a folder of this machine. Only content that the server lacks is sent. It lies below the
    working folder, as SDK v1 asks for, unless it may be `anywhere`."""
    place = _place(model_path, anywhere)
    body = {"name": arguments.checked_name(model_name), **_request(details)}
    walked = _picked(place, child_paths) if child_paths else _whole(place)
    left_out = walked()[1].left_out
    if left_out:
        notice(f"Left out of the model {model_name}: " + "; ".join(sorted(left_out)) + ".")

    def use(snapshot_id: str, sent: bool) -> ModelDocument:
        request = {**body, "snapshot_id": snapshot_id}
        answer = workspace.service.post(address(workspace), request, idempotent=True, timeout=300.0)
        return cast("ModelDocument", answer)

    with translated():
        try:
            return with_tree(workspace.service, place, walked, use, "" if place.is_file() else place.name)
        except TooRestless as error:
            raise WebserviceException(f"{error} Register the model when nothing writes to it any more.") from None
        except SnapshotException as error:
            if not isinstance(error.inner_exception, OSError):
                raise
            why = error.inner_exception
            raise WebserviceException(
                f"{why.filename} cannot be read ({why.strerror}), so the model is not registered.", inner_exception=why
            ) from error


def from_run(run: Run, model_name: str, model_path: str | None, details: Mapping[str, Any]) -> ModelDocument:
    """Register what a run has in its history; nothing is copied. From inside the run, what its script has just written
    is brought there first."""
    workspace = run.experiment.workspace
    path = model_name if model_path is None else str(model_path)
    body = {"name": arguments.checked_name(model_name), "run_id": run.id, "path": path, **_request(details)}
    inside = run._own_telemetry is not None
    if inside and _history_name(path).startswith(SHIPPED):
        _bring(run, path)
    run._deliver_before_reading()
    try:
        with translated():
            return _registered(workspace, body)
    except ModelPathNotFoundException:
        if not inside or not _bring(run, path):
            raise
    with translated():
        return _registered(workspace, body)


def _registered(workspace: Workspace, body: Mapping[str, Any]) -> ModelDocument:
    answer = workspace.service.post(address(workspace), body, idempotent=True, timeout=300.0)
    return cast("ModelDocument", answer)


def _request(details: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in details.items() if value not in (None, {}, [])}
    return {**given, "created_by": _user(), "request": uuid.uuid4().hex}


def _user() -> str | None:
    import getpass

    try:
        return getpass.getuser()[:255]
    except (KeyError, OSError, ImportError):  # a user of a container has a number, and no name
        return None


# -- files of this machine --------------------------------------------------------------------------------------------


def _place(model_path: str | os.PathLike[str], anywhere: bool) -> Path:
    if not isinstance(model_path, (str, os.PathLike)) or not str(model_path):
        raise WebserviceException(f"model_path must be the path of a file or a folder, not {names.shown(model_path)}.")
    place = Path(os.path.abspath(model_path))
    if not _exists(place):
        raise FileNotFoundError(f"There is neither a file nor a folder at {names.shown(str(place))} to register.")
    here = os.path.realpath(os.getcwd())
    real = os.path.realpath(place)
    if not anywhere and real != here and not real.startswith(here.rstrip(os.sep) + os.sep):
        raise PermissionError(
            f"{place} is not below the working folder {here}. Change to a folder above the model (os.chdir), or copy "
            "it here, and register it again."
        )
    return place


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no disk takes
        return False


def _whole(place: Path) -> Any:
    if place.is_file():
        return lambda: (place.parent, Tree(place.parent, [Found.of(place.name, place.stat())]))

    def walked() -> tuple[Path, Tree]:
        tree = walk(place, lambda path: False)
        if not tree.files and not any(entry.kind == manifest.LINK for entry in tree.entries):
            raise WebserviceException(f"There is no file in the folder {place}, so there is no model to register.")
        return place, tree

    return walked


def _picked(place: Path, child_paths: Sequence[str]) -> Any:
    """Those files of a folder that were named, and what is below those that are folders."""
    if isinstance(child_paths, str):
        raise WebserviceException("child_paths is a list of paths in the folder model_path, not a text.")
    if not place.is_dir():
        raise WebserviceException(f"child_paths picks files of a folder, and {place} is a file.")
    wanted = [_child(place, each) for each in child_paths]

    def walked() -> tuple[Path, Tree]:
        tree = walk(place, lambda path: False)
        below = tuple(f"{each}/" for each in wanted)
        tree.files = [file for file in tree.files if file.path in wanted or file.path.startswith(below)]
        tree.entries = [each for each in tree.entries if each.path in wanted or each.path.startswith(below)]
        if not tree.files:
            raise WebserviceException(f"There is no file in {', '.join(wanted)} of {place}.")
        return place, tree

    return walked


def _child(place: Path, path: str) -> str:
    try:
        name = names.check_file(os.path.relpath(path, place) if os.path.isabs(str(path)) else path)
    except names.BadName:
        raise WebserviceException(f"{names.shown(path)} in child_paths is no path in the folder {place}.") from None
    if not _exists(place / name):
        raise FileNotFoundError(f"{name} in child_paths is not in the folder {place}.")
    return name


# -- files of the script that is this process -------------------------------------------------------------------------


def _history_name(path: str) -> str:
    try:
        return names.check_file(path)
    except names.BadName:
        return ""


def _bring(run: Run, path: str) -> bool:
    """Put what lies at a path of the working folder into the history, under the same name; False when nothing does."""
    name = _history_name(path)
    place = Path(name)
    if not name or not _exists(place):
        return False
    if place.is_file():
        wanted = [(name, place)]
    else:
        wanted = [(f"{name}/{below}", place / below) for below in file_transfer.files_below(place)]
    checked = [(file_transfer.sendable(names.check_file(each)), at) for each, at in wanted]
    file_transfer.upload(run.experiment.workspace.service, run.id, checked)
    return bool(checked)
