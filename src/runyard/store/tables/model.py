"""The tables of models that a workspace registers, and of who needs them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, UniqueConstraint

from runyard.store.tables.columns import CleanText, Document, Moment, Serial, metadata, of_workspace, serial

model_names = Table(
    "model_names",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("last_version", BigInteger, nullable=False),
)
"""The last version that each name has had: the number of one that was deleted is not used again."""

models = Table(
    "models",
    metadata,
    serial(),
    of_workspace(),
    Column("name", CleanText, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("tree", CleanText, ForeignKey("snapshots.id"), nullable=False),  # its files, as a snapshot has them
    Column("root", CleanText, nullable=False),  # the one entry at the top of the tree
    Column("unpack", Integer, nullable=False),  # 1: that entry is a folder
    Column("size", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("framework", CleanText, nullable=False),
    Column("framework_version", CleanText),
    Column("resource_configuration", Document),
    Column("tags", Document, nullable=False),
    Column("properties", Document, nullable=False),
    Column("description", CleanText),
    Column("run_id", CleanText),  # of the run that it came from, which may be deleted since
    Column("experiment", CleanText),
    Column("datasets", Document, nullable=False),
    Column("sample_input", CleanText),
    Column("sample_output", CleanText),
    Column("created_by", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("request", CleanText),  # what a client calls its request, so that a repeated one registers nothing
    UniqueConstraint("workspace", "name", "version", name="models_by_version"),
    UniqueConstraint("workspace", "request", name="models_by_request"),
    Index("models_by_run", "run_id"),
    Index("models_by_tree", "tree"),
    sqlite_autoincrement=True,
)

model_uses = Table(
    "model_uses",
    metadata,
    of_workspace(primary_key=True),
    Column("service", CleanText, primary_key=True),
    Column("model", Serial, ForeignKey("models.serial", ondelete="CASCADE"), primary_key=True),
    Index("model_uses_by_model", "model"),
)
"""The services that need a model: as long as there is one, the model cannot be deleted."""
