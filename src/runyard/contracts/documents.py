"""The JSON that the server sends (docs/protocol.md), as types: workspaces, experiments, compute targets, runs."""

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


class EnvironmentMapDocument(TypedDict):
    """What is used for environments whose names match a pattern: an interpreter, or another definition."""

    pattern: str
    interpreter: str | None
    definition: dict[str, Any] | None


class StatusDocument(TypedDict):
    """`runyard.contracts.compute.Status`."""

    allocation_state: str
    current_nodes: int
    target_nodes: int
    counts: dict[str, int]
    errors: list[dict[str, str]]
    changed_at: str


class ComputeDocument(TypedDict):
    """`runyard.contracts.compute.Target` with its current status."""

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
    resources: dict[str, int]  # of one node: `runyard.contracts.compute.Resources`


class NodeDocument(TypedDict):
    """`runyard.contracts.compute.Node`."""

    name: str
    state: str
    run_id: str | None
    address: str


class ModelDocument(TypedDict):
    """One version of a model. `tree` is the id of its manifest, `root` the one entry at the top of that; `unpack` is
    whether it is a folder."""

    name: str
    version: int
    id: str
    workspace: str
    framework: str
    framework_version: str | None
    resource_configuration: dict[str, Any] | None
    tags: dict[str, str]
    properties: dict[str, str]
    description: str | None
    created_at: str
    created_by: str | None
    run_id: str | None
    experiment: str | None
    datasets: list[dict[str, str]]
    sample_input_dataset: str | None
    sample_output_dataset: str | None
    size: int
    files: int
    tree: str
    root: str
    unpack: bool
    services: list[str]


class StateDocument(TypedDict):
    status: str
    at: str
    reason: str | None


class _Details(TypedDict, total=False):
    """Only in the response for one run: when it is created or fetched by its id."""

    definition: dict[str, Any]
    launch: dict[str, Any] | None
    states: list[StateDocument]
    logs: list[str]
    dropped_logs: list[str]
    outputs: list[dict[str, Any]]  # what a run has written as data: name, dataset, complete, registered, version
    account: dict[str, Any]  # what it is doing, or what ended it, in words, with the next step
    models: list[str]  # the ids of those that were registered from it
    parameters: dict[str, str]  # what its script says it was started with
    token: str
    size: int  # in lists, on request
    children: dict[str, int]  # on request: how many direct ones there are, by their states


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
    archived_at: str | None
    web_url: str
    attempt: int
    nodes: int


class FileDocument(TypedDict):
    name: str
    size: int
    hash: str | None
    growing: bool
    updated_at: str


class _Points(TypedDict, total=False):
    """The content of a metric: which keys there are depends on its kind and on whether it was downsampled."""

    type: str
    values: list[Any]
    steps: list[int | None] | None
    times: list[float]
    buckets: list[dict[str, Any]]
    columns: dict[str, list[Any]]
    ranks: list[int]
    thinned: bool  # old points were dropped: `values` or `buckets` show the curve, `count` how many there were


class MetricDocument(_Points):
    name: str
    kind: str
    description: str | None
    count: int


class Usage(TypedDict):
    """Disk space, for runs with all their descendants."""

    runs: int
    bytes: int


class RetentionDocument(TypedDict):
    """By "logs" and "series": how long they stay, and what is older than that."""

    ages: dict[str, str]
    due: dict[str, Usage]


class RetentionStep(TypedDict):
    """What one request to drop old logs and series has freed; with `more`, ask again."""

    freed: dict[str, Usage]
    more: bool


class ExperimentUsage(Usage):
    id: str
    workspace: str
    name: str


class ModelUsage(TypedDict):
    """Disk space of all versions of a model; what several of them have counts once."""

    workspace: str
    name: str
    versions: int
    bytes: int


class Freed(TypedDict):
    """What a deletion removed."""

    runs: int
    experiments: int
    objects: int
    bytes_freed: int
