"""The tables of workspaces and their experiments, and the row that ties the database to its home folder."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Table, UniqueConstraint

from runyard.store.tables.columns import CleanText, Document, Moment, metadata, of_workspace, serial

identity = Table("identity", metadata, Column("id", CleanText, primary_key=True))
"""One row: what ties the database to its home folder (`runyard.store.identity`)."""

workspaces = Table(
    "workspaces",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("name", CleanText, nullable=False, unique=True),
    Column("subscription_id", CleanText, nullable=False),
    Column("resource_group", CleanText, nullable=False),
    Column("location", CleanText, nullable=False),
    Column("friendly_name", CleanText),
    Column("description", CleanText),
    Column("tags", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

workspace_settings = Table(
    "workspace_settings",
    metadata,
    of_workspace(primary_key=True),
    Column("key", CleanText, primary_key=True),
    Column("value", CleanText, nullable=False),
)

experiments = Table(
    "experiments",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    of_workspace(),
    Column("name", CleanText, nullable=False),
    Column("tags", Document, nullable=False),
    Column("last_number", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("archived_at", Moment),
    UniqueConstraint("workspace", "name", name="experiments_by_name"),
    sqlite_autoincrement=True,
)
