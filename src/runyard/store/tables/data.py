"""The tables of datastores, datasets and the data that runs write, and the names of secrets."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table

from runyard.store.tables.columns import CleanText, Document, Moment, Serial, metadata, of_workspace, serial

datastores = Table(
    "datastores",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("kind", CleanText, nullable=False),
    Column("settings", Document, nullable=False),
    Column("secrets", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
)

datasets = Table(
    "datasets",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    of_workspace(),
    Column("definition", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("datasets_by_workspace", "workspace"),
    sqlite_autoincrement=True,
)

dataset_versions = Table(
    "dataset_versions",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("dataset", Serial, ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
    Column("description", CleanText),
    Column("tags", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("dataset_versions_by_dataset", "dataset"),
)

run_outputs = Table(
    "run_outputs",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("dataset", Serial, ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
    Column("complete", Integer, nullable=False),  # 1: the run has ended well
    Column("registered", CleanText),  # the name that it was registered under
    Column("version", BigInteger),
    Index("run_outputs_by_dataset", "dataset"),
)

workspace_secrets = Table(
    "workspace_secrets",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("key", CleanText, nullable=False),
    Column("content_type", CleanText, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
