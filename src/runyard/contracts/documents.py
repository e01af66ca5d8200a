"""What the server tells of workspaces, experiments, compute targets and runs (docs/protocol.md), as types."""

from __future__ import annotations

from typing import Any, TypedDict


class WorkspaceDocument(TypedDict):
    name: str
    id: str
    subscription_id: str
    resource_group: str
    location: str
    friendly_name: str | None
    description: str | None
    tags: dict[str, str]
    created_at: str


class ExperimentDocument(TypedDict):
    id: str
    workspace: str
    name: str
    tags: dict[str, str]
    created_at: str
    archived_at: str | None


class EnvironmentDocument(TypedDict):
    name: str
    version: str
    definition: dict[str, Any]
    labels: list[str]
    created_at: str | None
    curated: bool


class StatusDocument(TypedDict):
    """`runyard.contracts.compute.Status`."""

    allocation_state: str
    current_nodes: int
    target_nodes: int
    counts: dict[str, int]
    errors: list[dict[str, str]]
    changed_at: str


class ComputeDocument(TypedDict):
    """`runyard.contracts.compute.Target`, and how it stands."""

    name: str
    engine: str
    type: str
    vm_size: str
    vm_priority: str
    min_nodes: int
    max_nodes: int | None
    idle_seconds: int
    options: dict[str, Any]
    details: dict[str, Any]
    created_at: str
    modified_at: str
    status: StatusDocument
    provisioning_state: str


class StateDocument(TypedDict):
    status: str
    at: str
    reason: str | None


class _Details(TypedDict, total=False):
    """Told only when a run is asked for by its id, or made."""

    definition: dict[str, Any]
    launch: dict[str, Any] | None
    states: list[StateDocument]
    logs: list[str]
    token: str
    size: int  # told in lists, when it is asked for


class RunDocument(_Details):
    id: str
    number: int
    workspace: str
    experiment: str
    experiment_id: str
    parent_id: str | None
    root_id: str
    type: str
    name: str | None
    display_name: str | None
    description: str | None
    status: str
    reason: str | None
    target: str | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    tags: dict[str, str | None]
    properties: dict[str, str | None]
    submitted_by: str | None
    snapshot_id: str | None
    error: dict[str, Any] | None
    warnings: list[dict[str, str]]
    web_url: str
    attempt: int
    nodes: int


class FileDocument(TypedDict):
    name: str
    size: int
    hash: str | None
    growing: bool
    updated_at: str


class Metric(TypedDict, total=False):
    """One metric; which keys are there depends on its kind."""

    name: str
    kind: str
    type: str
    description: str
    count: int
    values: list[Any]
    steps: list[int | None] | None
    times: list[float]
    columns: dict[str, list[Any]]
    ranks: list[int]
