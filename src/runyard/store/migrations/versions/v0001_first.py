"""The first version of the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _places()
    _snapshots()
    _runs()
    _run_details()
    _metrics()


def _text(name: str, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _number(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def _bytes(name: str, nullable: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary, nullable=nullable)


def _serial() -> sa.Column[int]:
    return sa.Column("serial", Serial, primary_key=True, autoincrement=True)


def _refers(name: str, to: str, primary_key: bool = False, cascade: bool = True) -> sa.Column[int]:
    key = sa.ForeignKey(f"{to}.serial", ondelete="CASCADE" if cascade else None)
    return sa.Column(name, Serial, key, primary_key=primary_key, nullable=False)


def _places() -> None:
    op.create_table(
        "workspaces",
        _serial(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        _text("subscription_id"),
        _text("resource_group"),
        _text("location"),
        _text("friendly_name", nullable=True),
        _text("description", nullable=True),
        _text("tags"),
        _number("created_at"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "experiments",
        _serial(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _refers("workspace", "workspaces"),
        _text("name"),
        _text("tags"),
        _number("last_number"),
        _number("created_at"),
        _number("archived_at", nullable=True),
        sa.UniqueConstraint("workspace", "name", name="experiments_by_name"),
        sqlite_autoincrement=True,
    )


def _snapshots() -> None:
    op.create_table(
        "snapshots",
        _serial(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _bytes("manifest"),
        _number("size"),
        _number("created_at"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "snapshot_objects",
        _refers("snapshot", "snapshots", primary_key=True),
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("snapshot_objects_by_digest", "snapshot_objects", ["digest"])


def _runs() -> None:
    op.create_table(
        "runs",
        _serial(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _number("number"),
        _refers("workspace", "workspaces", cascade=False),
        _refers("experiment", "experiments", cascade=False),
        _text("parent_id", nullable=True),
        _text("root_id"),
        _text("kind"),
        _text("type"),
        _text("name", nullable=True),
        _text("display_name", nullable=True),
        _text("description", nullable=True),
        _text("status"),
        _text("reason", nullable=True),
        _text("target"),
        _number("created_at"),
        _number("started_at", nullable=True),
        _number("ended_at", nullable=True),
        _text("submitted_by", nullable=True),
        sa.Column("snapshot_id", sa.Text, sa.ForeignKey("snapshots.id")),
        _text("error", nullable=True),
        _text("warnings", nullable=True),
        sa.UniqueConstraint("experiment", "number", name="runs_by_number"),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_workspace", "runs", ["workspace", "serial"])
    op.create_index("runs_by_workspace_parent", "runs", ["workspace", "parent_id", "serial"])
    op.create_index("runs_by_workspace_status", "runs", ["workspace", "status", "serial"])
    op.create_index("runs_by_workspace_type", "runs", ["workspace", "type", "serial"])
    op.create_index("runs_by_workspace_target", "runs", ["workspace", "target", "serial"])
    op.create_index("runs_by_experiment", "runs", ["experiment", "serial"])
    op.create_index("runs_by_experiment_parent", "runs", ["experiment", "parent_id", "serial"])
    op.create_index("runs_by_experiment_status", "runs", ["experiment", "status", "serial"])
    op.create_index("runs_by_parent", "runs", ["parent_id", "serial"])
    op.create_index("runs_by_root", "runs", ["root_id", "serial"])
    op.create_index("runs_by_status", "runs", ["status", "serial"])
    op.create_index("runs_by_snapshot", "runs", ["snapshot_id"])


def _run_details() -> None:
    op.create_table(
        "launches",
        _refers("run", "runs", primary_key=True),
        _text("definition", nullable=True),
        _text("launch", nullable=True),
        _text("handle", nullable=True),
    )
    op.create_table(
        "states",
        _serial(),
        _refers("run", "runs"),
        _text("status"),
        _number("at"),
        _text("reason", nullable=True),
    )
    op.create_index("states_by_run", "states", ["run", "serial"])
    op.create_table(
        "labels",
        _refers("run", "runs", primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key_hash", sa.LargeBinary, primary_key=True),
        _bytes("value_hash", nullable=True),
        _text("key"),
        _text("value", nullable=True),
    )
    op.create_index("labels_by_value", "labels", ["kind", "key_hash", "value_hash", "run"])
    op.create_index("labels_by_key", "labels", ["kind", "key_hash", "run"])
    op.create_table(
        "files",
        _serial(),
        _refers("run", "runs"),
        _bytes("name_hash"),
        _text("name"),
        _number("size"),
        _bytes("digest", nullable=True),
        _number("updated_at"),
        sa.UniqueConstraint("run", "name_hash", name="files_by_name"),
        sqlite_autoincrement=True,
    )
    op.create_index("files_by_digest", "files", ["digest"])


def _metrics() -> None:
    op.create_table(
        "journals",
        _refers("run", "runs", primary_key=True),
        sa.Column("writer", sa.Text, primary_key=True),
        _number("offset"),
    )
    op.create_table(
        "series",
        _serial(),
        _refers("run", "runs"),
        _bytes("identity"),
        _text("name"),
        _text("kind"),
        _text("type"),
        _number("points"),
        _number("chunks"),
        sa.UniqueConstraint("run", "identity", name="series_by_identity"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "descriptions",
        _refers("run", "runs", primary_key=True),
        sa.Column("name_hash", sa.LargeBinary, primary_key=True),
        _text("name"),
        _text("text"),
    )
    op.create_table(
        "chunks",
        _refers("series", "series", primary_key=True),
        sa.Column("ordinal", sa.BigInteger, primary_key=True, autoincrement=False),
        _number("count"),
        _text("encoding"),
        _bytes("times"),
        _bytes("steps", nullable=True),
        _bytes("values"),
        sa.Column("smallest", sa.Double),
        sa.Column("largest", sa.Double),
    )
