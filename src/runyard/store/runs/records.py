"""What a run holds: the record that makes one, the record that is read back, and an entry in its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runyard.contracts import states as state_names

Json = dict[str, Any]
"""A JSON object, stored as it was received."""

SCRIPT = "script"
"""The kind of a run that has a node runner. `interactive` and `child` runs are led by the process that made them."""

SWEEP = "sweep"
"""The kind of a run whose children the scheduler samples. It has no process of its own."""

MLFLOW = "mlflow.run"
"""The type of a run that a client of MLflow leads: it says when the run ends, and nothing in between."""

SERVICE = "service"
"""The kind of a run that is a replica of a service: it has a node runner, and stays up."""


@dataclass(frozen=True)
class NewRun:
    """A run to be made. One with a parent gets the parent's workspace and experiment, whatever is given here."""

    id: str
    workspace: str
    experiment: str
    status: str = state_names.NOT_STARTED
    reason: str | None = None
    kind: str = SCRIPT
    type: str = "azureml.scriptrun"
    parent_id: str | None = None
    name: str | None = None
    display_name: str | None = None
    description: str | None = None
    tags: Mapping[str, str | None] = field(default_factory=dict)
    properties: Mapping[str, str | None] = field(default_factory=dict)
    target: str = "local"
    submitted_by: str | None = None
    snapshot_id: str | None = None
    definition: Json = field(default_factory=dict)
    launch: Json | None = None
    nodes: int = 1
    experiment_id: str = ""  # of an experiment that exists; without it, the one of that name is created
    created_at: datetime | None = None  # now, unless the run was made elsewhere before
    started_at: datetime | None = None  # of a run that is running: when it was made, unless it is known better


@dataclass(frozen=True)
class Run:
    """A run as it is stored, with its labels."""

    id: str
    number: int
    workspace: str
    experiment: str
    experiment_id: str
    parent_id: str | None
    root_id: str
    kind: str
    type: str
    name: str | None
    display_name: str | None
    description: str | None
    status: str
    reason: str | None
    target: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    tags: dict[str, str | None]
    properties: dict[str, str | None]
    submitted_by: str | None
    snapshot_id: str | None
    error: Json | None
    warnings: list[dict[str, str]]
    nodes: int = 1
    attempt: int = 1
    restart: str | None = None  # why the attempt under way is to be followed by another one
    archived_at: datetime | None = None
    parameters: dict[str, str | None] = field(default_factory=dict)

    @property
    def led(self) -> bool:
        """Whether the process that made the run leads it: it has no node runner."""
        return self.kind not in (SCRIPT, SWEEP, SERVICE)

    @property
    def beats(self) -> bool:
        """Whether whoever leads the run gives signs of life."""
        return not (self.led and self.type == MLFLOW)

    @property
    def ended(self) -> bool:
        return self.status in state_names.TERMINAL

    @property
    def between_attempts(self) -> bool:
        """Whether the run is to start again, as soon as nothing of its former attempt is alive any more."""
        return self.status == state_names.QUEUED and self.restart is not None


@dataclass(frozen=True)
class StateChange:
    """One entry in the history of a run."""

    status: str
    at: datetime
    reason: str | None
