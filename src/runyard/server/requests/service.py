"""Requests for services: their forms, and what they become: settings, a revision, the models that it serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from sqlalchemy import Connection

from runyard.contracts import names
from runyard.contracts.environment import specification_of
from runyard.contracts.secrets import veil
from runyard.contracts.services import settings as service_settings
from runyard.contracts.services import states
from runyard.contracts.services.runtime_environments import RUNTIMES, runtime_environment
from runyard.contracts.services.settings import BadSettings, Settings
from runyard.server.middleware.problems import Problem
from runyard.server.requests import mlflow_environment, run_environment
from runyard.server.requests.definitions import storing
from runyard.store.assets import models
from runyard.store.assets.services import NewRevision, Revision
from runyard.store.content import snapshots
from runyard.store.content.objects import Objects
from runyard.store.content.secrets import Secrets

Json = dict[str, Any]

MLFLOW = "MLflow"
"""The framework of models that MLflow wrote, which name what they need."""

TRITON = "Multi"
"""The framework of a folder of models for Triton, which SDK v1 served without code, and this does not."""


class ServiceLaunch(BaseModel):
    """The code of a service and where it runs. Without an entry script the model is served as it is."""

    model_config = ConfigDict(extra="forbid")

    snapshot_id: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    entry_script: str | None = None
    source_directory: str = ""
    environment: dict[str, JsonValue] = {}
    definition: dict[str, JsonValue] = {}  # the environment in the form of SDK v1, to be shown
    interpreter: str = "python"
    shell: dict[str, str] = {}
    container: dict[str, JsonValue] = {}


class Labelled(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tags: dict[str, str] | None = None
    properties: dict[str, str] | None = None
    description: str | None = None


class RevisionRequest(Labelled):
    """What makes a revision; what is not given stays as it is."""

    models: list[str] | None = Field(None, max_length=100)
    launch: ServiceLaunch | None = None
    settings: dict[str, JsonValue] = {}


class ServiceRequest(RevisionRequest):
    name: str
    kind: Literal["aci", "aks", "local", "endpoint"] = "aci"
    compute_target: str | None = None
    overwrite: bool = False
    version_name: str | None = None  # of the first version of an endpoint
    traffic_percentile: float | None = Field(None, ge=0, le=100)


class VersionRequest(RevisionRequest):
    traffic_percentile: float | None = Field(None, ge=0, le=100)
    is_default: bool | None = None
    is_control: bool | None = None


class ScaleRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    replicas: int = Field(ge=0, le=service_settings.MOST_REPLICAS)


class KeyRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: Literal["Primary", "Secondary", "primary", "secondary"]
    value: str | None = Field(None, min_length=16, max_length=255, pattern=r"^[\x21-\x7e]+$")


def checked_name(name: str, what: str = "service") -> str:
    try:
        return states.check_name(name, what)
    except states.BadServiceName as error:
        raise Problem("bad_name", str(error)) from None


def checked_settings(given: Mapping[str, Any], base: Settings) -> Settings:
    try:
        return service_settings.from_dict(given, base)
    except BadSettings as error:
        raise bad(str(error)) from None


def revision(
    connection: Connection,
    objects: Objects,
    secrets: Secrets,
    workspace: str,
    asked: RevisionRequest,
    version: str,
    settings: Settings,
    former: Revision | None = None,
    reason: str = "deployed",
) -> NewRevision:
    """The revision that a request makes of the former one. Problem when it could never serve."""
    served = former.models if former is not None and asked.models is None else _models(connection, workspace, asked)
    launch = former.launch if former is not None else None
    snapshot_id = former.snapshot_id if former is not None else None
    if asked.launch is not None:
        launch, snapshot_id = _launch(connection, secrets, workspace, asked.launch), asked.launch.snapshot_id
    if launch is None or (not launch["entry_script"] and launch.get("chosen", True)):
        launch, snapshot_id = _without_code(connection, objects, workspace, served, launch, bool(settings.gpu)), None
    return NewRevision(version, served, launch, settings, snapshot_id, reason)


def _models(connection: Connection, workspace: str, asked: RevisionRequest) -> list[Json]:
    found = []
    for each in asked.models or ():
        name, _, version = each.rpartition(":")
        if not name:
            name, version = each, ""
        if version and not version.isdecimal():
            raise bad(f"{each!r} is no model: write `name:version`, or the name alone for the latest version.")
        model = models.get(connection, workspace, name, int(version) if version else None)
        found.append(
            {
                "id": model.id,
                "name": model.name,
                "version": model.version,
                "tree": model.content.tree,
                "root": model.content.root,
                "framework": model.details.framework,
                "framework_version": model.details.framework_version or "",
            }
        )
    ids = [each["id"] for each in found]
    if len(set(ids)) < len(ids):
        raise bad("A model is named twice.")
    return found


def _launch(connection: Connection, secrets: Secrets, workspace: str, asked: ServiceLaunch) -> Json:
    environment = dict(asked.environment)
    if asked.definition and not environment:
        environment = specification_of(asked.definition).as_dict()
    run_environment.check(environment)
    if asked.entry_script is not None:
        names.check_file(asked.entry_script)
        if not asked.entry_script.endswith(".py"):
            raise bad(f"The entry script {asked.entry_script!r} is no Python file: its name must end in .py.")
        if asked.snapshot_id is None:
            raise bad("There is an entry script, and no `snapshot_id` of the folder that it lies in.")
    if asked.snapshot_id is not None:
        _check_script(connection, asked)
    document: Json = veil({**asked.model_dump(exclude={"snapshot_id"}), "environment": environment}, storing(secrets))
    settled, _ = run_environment.settle(connection, workspace, document, asked.definition)
    return {**settled, "chosen": not environment and asked.entry_script is None}


def _check_script(connection: Connection, asked: ServiceLaunch) -> None:
    """Refuse an entry script that the snapshot does not hold, before anything is started for it."""
    text = snapshots.manifest_text(connection, str(asked.snapshot_id))
    if asked.entry_script is None:
        return
    from runyard.contracts import manifest

    paths = {entry.path for entry in manifest.parse(text).entries}
    place = names.check_file(f"{asked.source_directory}/{asked.entry_script}".lstrip("/"))
    if place not in paths and names.check_file(asked.entry_script) not in paths:
        beside = sorted(each for each in paths if each.endswith(".py"))[:10]
        raise bad(
            f"There is no entry script {asked.entry_script!r} in the folder that was sent. It has: "
            f"{', '.join(beside) or 'no Python file'}."
        )


def _without_code(
    connection: Connection, objects: Objects, workspace: str, served: Sequence[Json], launch: Json | None, gpu: bool
) -> Json:
    """The launch of a service that is nothing but a model, in the environment for its framework, or that it names."""
    if len(served) != 1:
        raise bad(
            f"A service without an entry script serves one model, and this one has {len(served)}: give an entry script "
            "(InferenceConfig), or one model."
        )
    (model,) = served
    definition = _definition(connection, objects, model, gpu)
    base = launch or ServiceLaunch(snapshot_id=None).model_dump(exclude={"snapshot_id"})
    document = {**base, "environment": specification_of(definition).as_dict(), "definition": definition}
    settled, _ = run_environment.settle(connection, workspace, document, definition)
    return {**settled, "entry_script": None, "chosen": True}


def _definition(connection: Connection, objects: Objects, model: Json, gpu: bool) -> Json:
    if model["framework"] == MLFLOW:
        named = mlflow_environment.definition_of(connection, objects, model, gpu)
        if named is None:
            raise bad(
                f"The model {model['id']} has no {mlflow_environment.REQUIREMENTS} that lists what it needs, as "
                "mlflow.<flavour>.log_model writes it: give an environment (InferenceConfig)."
            )
        return named
    found = runtime_environment(model["framework"], model["framework_version"], gpu)
    if found is None:
        hint = " Models for Triton need Triton itself." if model["framework"] == TRITON else ""
        raise bad(
            f"The model {model['id']} has the framework {model['framework']!r}, which is not served without code: "
            f"register it as one of {', '.join(sorted([*RUNTIMES, MLFLOW]))}, or give an entry script "
            f"(InferenceConfig).{hint}"
        )
    return found.definition


def bad(title: str) -> Problem:
    return Problem("invalid_service", title, "docs/services.md shows what a service is made of.")
