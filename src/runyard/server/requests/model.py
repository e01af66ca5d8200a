"""The requests that register a model and change what is said of it: their forms, and what a run may name in them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from runyard.server.middleware.problems import Problem
from runyard.store.assets import model_content, models
from runyard.store.assets.model_content import Content
from runyard.store.assets.models import Details, Model

Number = Annotated[float, Field(gt=0, le=1e6)]


class ResourceRequest(BaseModel):
    """What a service of the model needs."""

    model_config = ConfigDict(extra="forbid")

    cpu: Number | None = None
    memory_in_gb: Number | None = None
    gpu: Annotated[int, Field(ge=0, le=10_000)] | None = None


class DatasetReference(BaseModel):
    """A dataset that the model has to do with, and what it is to it: `training`, for example."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=255)
    id: str


class ModelRequest(BaseModel):
    """Files by `snapshot_id`, or by a `path` in the history of the run `run_id`."""

    model_config = ConfigDict(extra="forbid")

    name: str
    snapshot_id: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    run_id: str | None = None
    path: str | None = None
    framework: str | None = None
    framework_version: str | None = None
    resource_configuration: ResourceRequest | None = None
    tags: dict[str, str] = {}
    properties: dict[str, str] = {}
    description: str | None = None
    datasets: list[DatasetReference] = []
    sample_input_dataset: str | None = None
    sample_output_dataset: str | None = None
    created_by: str | None = Field(None, max_length=255)
    request: str | None = Field(
        None, min_length=16, max_length=64, description="any text of its own: sent again, nothing new is registered"
    )


class ModelChange(BaseModel):
    """What is not named stays as it is. `tags` replaces all of them, `set_tags` and `remove_tags` some."""

    model_config = ConfigDict(extra="forbid")

    tags: dict[str, str] | None = None
    set_tags: dict[str, str] = {}
    remove_tags: list[str] = []
    add_properties: dict[str, str] = {}
    description: str | None = None
    resource_configuration: ResourceRequest | None = None
    add_datasets: list[DatasetReference] = []
    sample_input_dataset: str | None = None
    sample_output_dataset: str | None = None


def register(connection: Connection, workspace: str, body: ModelRequest, by: str | None) -> Model:
    """Store the model of a request; `by` is the run whose token it carries. It is the model's origin, unless the
    request names another."""
    if body.request is not None:
        before = models.by_request(connection, workspace, body.request)
        if before is not None:
            return before
    details = Details(
        framework=body.framework or models.CUSTOM,
        framework_version=body.framework_version,
        resource_configuration=_resources(body.resource_configuration),
        tags=body.tags,
        properties=body.properties,
        description=body.description,
        datasets=[each.model_dump() for each in body.datasets],
        sample_input_dataset=body.sample_input_dataset,
        sample_output_dataset=body.sample_output_dataset,
        created_by=body.created_by,
    )
    if body.framework_version is not None and body.framework is None:
        raise Problem(
            "bad_model",
            f"The version {body.framework_version[:80]!r} of a framework is given, and no framework.",
            "Name the framework as well.",
        )
    content = _content(connection, body)
    return models.register(connection, workspace, body.name, content, details, body.run_id or by, body.request)


def change(connection: Connection, workspace: str, name: str, version: int | None, body: ModelChange) -> Model:
    given = body.model_dump(exclude_unset=True)
    replaced: dict[str, Any] = {
        key: given[key] for key in ("description", "sample_input_dataset", "sample_output_dataset") if key in given
    }
    if body.tags is not None:
        replaced["tags"] = body.tags
    if body.resource_configuration is not None:
        replaced["resource_configuration"] = _resources(body.resource_configuration)
    added = [each.model_dump() for each in body.add_datasets]
    return models.change(
        connection, workspace, name, version, replaced, body.set_tags, body.remove_tags, body.add_properties, added
    )


def _content(connection: Connection, body: ModelRequest) -> Content:
    if body.snapshot_id is not None and body.path is None:
        return model_content.of_snapshot(connection, body.snapshot_id)
    if body.snapshot_id is None and body.path is not None and body.run_id is not None:
        return model_content.of_run(connection, body.run_id, body.path)
    raise Problem(
        "bad_model",
        "The request does not say which files the model has.",
        "Give the id of a snapshot (`snapshot_id`), or a run and the path of its files (`run_id`, `path`).",
    )


def _resources(request: ResourceRequest | None) -> dict[str, Any] | None:
    return None if request is None else request.model_dump()
