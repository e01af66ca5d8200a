"""The tables of services: their versions, revisions and replicas."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, Table, UniqueConstraint

from runyard.store.tables.columns import (
    CleanText,
    Document,
    Moment,
    Serial,
    build_context,
    metadata,
    of_service,
    of_workspace,
    serial,
)

services = Table(
    "services",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    of_workspace(),
    Column("name", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("error", Document),
    Column("operation", Document, nullable=False),
    Column("settings", Document, nullable=False),
    Column("port", BigInteger, nullable=False),
    Column("keys", Document, nullable=False),  # the names of its secrets; their values are in files
    Column("tags", Document, nullable=False),
    Column("properties", Document, nullable=False),
    Column("description", CleanText),
    Column("compute_target", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("workspace", "name", name="services_by_name"),
    sqlite_autoincrement=True,
)

service_versions = Table(
    "service_versions",
    metadata,
    of_service(primary_key=True),
    Column("name", CleanText, primary_key=True),  # empty for a service that is no endpoint
    Column("current", BigInteger),  # the revision that serves
    Column("wanted", BigInteger),  # the revision that is to serve
    Column("replicas", BigInteger, nullable=False),
    Column("traffic", Double, nullable=False),
    Column("is_default", Integer, nullable=False),
    Column("is_control", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
)

service_revisions = Table(
    "service_revisions",
    metadata,
    of_service(primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("version", CleanText, nullable=False),
    Column("models", Document, nullable=False),
    Column("launch", Document, nullable=False),
    Column("settings", Document, nullable=False),
    Column("snapshot_id", CleanText, ForeignKey("snapshots.id")),
    build_context(),
    Column("state", CleanText, nullable=False),
    Column("reason", CleanText),
    Column("created_at", Moment, nullable=False),
    Index("service_revisions_by_snapshot", "snapshot_id"),
    Index("service_revisions_by_context", "context"),
)

service_replicas = Table(
    "service_replicas",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    of_service(),
    Column("version", CleanText, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("role", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("seen", Document, nullable=False),  # what its node runner last reported
    Index("service_replicas_by_service", "service"),
)
