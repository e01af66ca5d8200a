"""Artifacts by MLflow's protocol: the files below `outputs/` of a run, those of a logged model, and those of a version
of a registered one. They are taken in and given out in pieces.

An address of artifacts is `mlflow-artifacts:/<experiment>/<run>/artifacts/<path>`, `.../<experiment>/models/<id>/
artifacts/<path>`, or `.../registry/<model>/<version>/<path>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.contracts import manifest, names
from runyard.server.api.files import BYTES, open_file
from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents
from runyard.server.mlflow.here import PREFIX, At, Here
from runyard.server.mlflow.logged_models import readable, writable
from runyard.server.requests import uploads
from runyard.server.responses.documents import Json, answer
from runyard.server.responses.downloads import file_response
from runyard.server.threads import in_writer_thread
from runyard.store.assets import model_content, models
from runyard.store.content import files, snapshots
from runyard.store.content.objects import ObjectWriter, Stored
from runyard.store.errors import NotFound
from runyard.store.mlflow.logged_models import OUTPUTS

REGISTRY, MODELS, ARTIFACTS = "registry", "models", "artifacts"

_PROXY = "/mlflow/{workspace}/api/2.0/mlflow-artifacts/artifacts"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Place:
    """A file or folder among the files of a run, or of a version of a registered model."""

    path: str  # with the folder that the artifacts are in
    run_id: str = ""
    model: str = ""
    version: int = 0


@router.put(_PROXY + "/{path:file}", openapi_extra=BYTES)
async def upload(path: str, request: Request, here: At) -> Response:
    place = await run_in_threadpool(_writable, here, path)
    writer = await uploads.receive_object(request, here.context.store.objects)
    stored = await in_writer_thread(_keep, here, place, writer)
    here.context.meters.stored(stored.size)
    here.context.live.file(place.run_id, place.path, stored.size)
    return answer({})


@router.get(_PROXY)
def list_by_address(here: At, path: str = "") -> Response:
    """The entries of a folder, by their base names."""
    place = _readable(here, path)
    return answer({"files": [{**each, "path": each["path"].rpartition("/")[2]} for each in _entries(here, place)]})


@router.get(_PROXY + "/{path:file}")
def download(path: str, here: At, range: Annotated[str | None, Header()] = None) -> Response:
    place = _readable(here, path)
    if place.model:
        with here.read() as connection:
            found = models.get(connection, here.workspace, place.model, place.version)
            entry = model_content.entry(connection, found.content.tree, place.path)
        file, size, digest = here.context.store.objects.open(entry.digest), entry.size, entry.digest
        response = file_response(file, size, place.path, range, digest)
    else:
        opened = open_file(here.context.store, place.run_id, place.path)
        response = file_response(opened.file, opened.size, place.path, range, opened.digest)
    response.headers.setdefault("Content-Disposition", "attachment")
    return response


@router.delete(_PROXY + "/{path:file}")
def delete(path: str, here: At) -> Response:
    here.must_be_user("To delete artifacts")
    place = _writable(here, path)
    with here.write() as connection:
        below = [
            each.name
            for each in files.find(connection, place.run_id, place.path)
            if each.name == place.path or each.name.startswith(f"{place.path}/")
        ]
        files.remove(connection, place.run_id, below)
    return answer({})


@router.get(f"{PREFIX}/artifacts/list")
async def list_of_run(here: At, run_id: str = "", run_uuid: str = "", path: str = "") -> Response:
    wanted = run_id or run_uuid
    await run_in_threadpool(here.must_read, wanted)
    await here.context.pace.look(wanted)
    return answer(await run_in_threadpool(_list_of_run, here, wanted, path))


def _list_of_run(here: Here, run_id: str, path: str) -> Json:
    with here.read() as connection:
        run = here.run(connection, run_id)
    place = Place(_below(OUTPUTS, path), run_id)
    cut = len(OUTPUTS) + 1
    found = [{**each, "path": each["path"][cut:]} for each in _entries(here, place)]
    experiment_id = documents.public_id(run.experiment_id, run.experiment)
    return {"root_uri": documents.artifact_uri(experiment_id, run_id), "files": found}


@router.get(f"{PREFIX}/logged-models/{{model_id}}/artifacts/directories")
def list_of_model(model_id: str, here: At, artifact_directory_path: str = "") -> Response:
    model = readable(here, model_id)
    place = Place(_below(model.place, artifact_directory_path), model.run_id)
    cut = len(model.place) + 1
    found = [{**each, "path": each["path"][cut:]} for each in _entries(here, place)]
    return answer({"root_uri": f"runs:/{model.run_id}/{model.place}", "files": found})


def _writable(here: Here, path: str) -> Place:
    kind, owner, rest = _parsed(path)
    if kind == REGISTRY or not rest:
        title = f"Nothing can be written to {names.shown(path)}."
        raise Problem("bad_name", title, "Registered models stay as they are; files of a run have a name.")
    if kind == MODELS:
        model = writable(here, owner)
        return Place(_below(model.place, rest), model.run_id)
    here.must_write(owner)
    with here.read() as connection:
        here.serial(connection, owner)
    return Place(_below(OUTPUTS, rest), owner)


def _readable(here: Here, path: str) -> Place:
    kind, owner, rest = _parsed(path)
    if kind == REGISTRY:
        here.must_be_wide()
        version, _, below = rest.partition("/")
        if not (version.isascii() and version.isdigit() and len(version) < 18):
            raise _nothing(path)
        with here.read() as connection:
            found = models.get(connection, here.workspace, owner, int(version))
        return Place(_below(found.content.root if found.content.folder else "", below), "", owner, int(version))
    if kind == MODELS:
        model = readable(here, owner)
        return Place(_below(model.place, rest), model.run_id)
    here.must_read(owner)
    with here.read() as connection:
        here.serial(connection, owner, active=False)
    return Place(_below(OUTPUTS, rest), owner)


def _parsed(path: str) -> tuple[str, str, str]:
    """What the address of an artifact names: the kind of its owner, the owner, and the path below it."""
    names.check_file(path)
    parts = path.strip("/").split("/")
    if parts[0] == REGISTRY and len(parts) >= 3:
        return REGISTRY, parts[1], "/".join(parts[2:])
    if len(parts) >= 4 and parts[1] == MODELS and parts[3] == ARTIFACTS:
        return MODELS, parts[2], "/".join(parts[4:])
    if len(parts) >= 3 and parts[2] == ARTIFACTS:
        return ARTIFACTS, parts[1], "/".join(parts[3:])
    raise _nothing(path)


def _nothing(path: str) -> NotFound:
    return NotFound(
        "file_not_found",
        f"There are no artifacts at {names.shown(path)}.",
        "An address begins with <experiment>/<run>/artifacts, as `artifact_uri` of a run has it.",
    )


def _below(folder: str, path: str) -> str:
    """A path below a folder; refused when it would leave it."""
    if not path.strip("/"):
        return folder
    checked = names.check_file(path)
    return f"{folder}/{checked}" if folder else checked


def _entries(here: Here, place: Place) -> list[Json]:
    """What is directly in a folder, with the whole paths. Of a file, nothing is in it."""
    if place.model:
        with here.read() as connection:
            found = models.get(connection, here.workspace, place.model, place.version)
            text = snapshots.manifest_text(connection, found.content.tree)
        known = [(each.path, each.size) for each in manifest.parse(text).entries if each.kind == manifest.FILE]
    else:
        with here.read() as connection:
            known = [(each.name, each.size) for each in files.find(connection, place.run_id, place.path)]
    return list(_directly_below(known, f"{place.path}/" if place.path else ""))


def _directly_below(known: Iterable[tuple[str, int]], folder: str) -> Iterable[Json]:
    seen = set()
    for name, size in sorted(known):
        if not name.startswith(folder):
            continue
        first, slash, _ = name[len(folder) :].partition("/")
        if slash and first not in seen:
            seen.add(first)
            yield {"path": folder + first, "is_dir": True}
        elif not slash:
            yield {"path": name, "is_dir": False, "file_size": size}


def _keep(here: Here, place: Place, writer: ObjectWriter) -> Stored:
    """Finished under the write lock, as every file of a run is."""
    try:
        with here.write() as connection:
            stored = writer.finish(None)
            files.put(connection, place.run_id, place.path, stored)
            return stored
    except BaseException:
        writer.abort()
        raise
