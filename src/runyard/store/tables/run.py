"""The tables of runs: what they are, how they are started, the states that they went through, what is said of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    UniqueConstraint,
    func,
)

from runyard.store.tables.columns import CleanText, Document, Moment, Serial, metadata, of_run, serial

runs = Table(
    "runs",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("number", BigInteger, nullable=False),
    Column("workspace", Serial, ForeignKey("workspaces.serial"), nullable=False),
    Column("experiment", Serial, ForeignKey("experiments.serial"), nullable=False),
    Column("parent_id", CleanText),
    Column("root_id", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("type", CleanText, nullable=False),
    Column("name", CleanText),
    Column("display_name", CleanText),
    Column("description", CleanText),
    Column("status", CleanText, nullable=False),
    Column("reason", CleanText),
    Column("target", CleanText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("submitted_by", CleanText),
    Column("snapshot_id", CleanText, ForeignKey("snapshots.id")),
    Column("error", Document),
    Column("warnings", Document),
    Column("archived_at", Moment),  # out of sight in lists, unless they ask for it
    UniqueConstraint("experiment", "number", name="runs_by_number"),
    Index("runs_by_workspace", "workspace", "serial"),
    Index("runs_by_workspace_parent", "workspace", "parent_id", "serial"),
    Index("runs_by_workspace_status", "workspace", "status", "serial"),
    Index("runs_by_workspace_type", "workspace", "type", "serial"),
    Index("runs_by_workspace_target", "workspace", "target", "serial"),
    Index("runs_by_experiment", "experiment", "serial"),
    Index("runs_by_experiment_parent", "experiment", "parent_id", "serial"),
    Index("runs_by_experiment_status", "experiment", "status", "serial"),
    Index("runs_by_parent", "parent_id", "serial"),
    Index("runs_by_root", "root_id", "serial"),
    Index("runs_by_status", "status", "serial"),
    Index("runs_by_snapshot", "snapshot_id"),
    sqlite_autoincrement=True,
)


def begun_at() -> ColumnElement[Any]:
    """When a run has started, or was made if it has not: how its index by time has it."""
    return func.coalesce(runs.c.started_at, runs.c.created_at)


Index("runs_by_begin", runs.c.experiment, begun_at(), runs.c.serial)

deleted_runs = Table(
    "deleted_runs",
    metadata,
    Column("id_hash", LargeBinary, primary_key=True),
)

launches = Table(
    "launches",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("definition", Document),
    Column("launch", Document),
    Column("handle", Document),
    Column("context", CleanText),  # the snapshot that the run's image is built from
    Column("nodes", BigInteger, nullable=False, server_default="1"),
    Column("attempt", BigInteger, nullable=False, server_default="1"),
    Column("restart", CleanText),  # why the attempt under way is to be followed by another one
    Column("meeting", Document),  # where the leader of the attempt's nodes is to be met
    Index("launches_by_context", "context"),
)

states = Table(
    "states",
    metadata,
    serial(),
    of_run(),
    Column("status", CleanText, nullable=False),
    Column("at", Moment, nullable=False),
    Column("reason", CleanText),
    Index("states_by_run", "run", "serial"),
)

labels = Table(
    "labels",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("kind", CleanText, primary_key=True),
    Column("key_hash", LargeBinary, primary_key=True),
    Column("value_hash", LargeBinary),
    Column("key", CleanText, nullable=False),
    Column("value", CleanText),
    Column("number", Double),  # what the value says, where that is a number: lists are sorted by it
    Column("logged", Integer),  # 1: a parameter that the script has logged itself, which is never changed
    Index("labels_by_value", "kind", "key_hash", "value_hash", "run"),
    Index("labels_by_key", "kind", "key_hash", "run"),
)
Index(
    "labels_by_number",
    *(labels.c.kind, labels.c.key_hash, labels.c.number, labels.c.run),
    sqlite_where=labels.c.number.is_not(None),
    postgresql_where=labels.c.number.is_not(None),
)
