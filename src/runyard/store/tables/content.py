"""The tables of what is kept as files: snapshots, files of runs, wheels."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint

from runyard.store.tables.columns import (
    CleanText,
    Digest,
    Document,
    Moment,
    Serial,
    metadata,
    of_run,
    of_workspace,
    serial,
)

snapshots = Table(
    "snapshots",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("manifest", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

snapshot_objects = Table(
    "snapshot_objects",
    metadata,
    Column("snapshot", Serial, ForeignKey("snapshots.serial", ondelete="CASCADE"), primary_key=True),
    Column("digest", Digest, primary_key=True),
    Index("snapshot_objects_by_digest", "digest"),
    sqlite_with_rowid=False,
)

files = Table(
    "files",
    metadata,
    serial(),
    of_run(),
    Column("name_hash", LargeBinary, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("digest", Digest),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("run", "name_hash", name="files_by_name"),
    Index("files_by_digest", "digest"),
    sqlite_autoincrement=True,
)

dropped = Table(
    "dropped",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("kind", CleanText, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("names", Document, nullable=False),  # of the logs that were there
)
"""What retention has dropped of old runs; with nothing to drop, that it was looked for."""

wheels = Table(
    "wheels",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("wheels_by_digest", "digest"),
)
