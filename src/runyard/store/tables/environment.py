"""The tables of environments, and of compute targets that runs use them on."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint

from runyard.store.tables.columns import (
    CleanText,
    Digest,
    Document,
    Moment,
    Serial,
    build_context,
    metadata,
    of_workspace,
    serial,
)

environments = Table(
    "environments",
    metadata,
    serial(),
    of_workspace(),
    Column("name", CleanText, nullable=False),
    Column("version", CleanText, nullable=False),
    Column("content", Digest, nullable=False),
    Column("definition", Document, nullable=False),
    build_context(),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("workspace", "name", "version", name="environments_by_version"),
    Index("environments_by_context", "context"),
    sqlite_autoincrement=True,
)

environment_labels = Table(
    "environment_labels",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("label", CleanText, primary_key=True),
    Column("environment", Serial, ForeignKey("environments.serial", ondelete="CASCADE"), nullable=False),
    Index("environment_labels_by_environment", "environment"),
)

environment_maps = Table(
    "environment_maps",
    metadata,
    of_workspace(primary_key=True),
    Column("pattern", CleanText, primary_key=True),
    Column("interpreter", CleanText),
    Column("definition", Document),
    build_context(),
    Index("environment_maps_by_context", "context"),
)

compute_targets = Table(
    "compute_targets",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("document", Document, nullable=False),
)
