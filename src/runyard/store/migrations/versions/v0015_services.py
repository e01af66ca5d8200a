"""Services: their versions, revisions and replicas."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _service(primary_key: bool = False) -> sa.Column[int]:
    key = sa.ForeignKey("services.serial", ondelete="CASCADE")
    return sa.Column("service", Serial, key, primary_key=primary_key, nullable=False)


def upgrade() -> None:
    op.create_table(
        "services",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("workspace", Serial, sa.ForeignKey("workspaces.serial", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("port", sa.BigInteger, nullable=False),
        sa.Column("keys", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("properties", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("compute_target", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("workspace", "name", name="services_by_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "service_versions",
        _service(primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("current", sa.BigInteger),
        sa.Column("wanted", sa.BigInteger),
        sa.Column("replicas", sa.BigInteger, nullable=False),
        sa.Column("traffic", sa.Double, nullable=False),
        sa.Column("is_default", sa.Integer, nullable=False),
        sa.Column("is_control", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_revisions",
        _service(primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("models", sa.Text, nullable=False),
        sa.Column("launch", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("snapshot_id", sa.Text, sa.ForeignKey("snapshots.id")),
        sa.Column("context", sa.Text, sa.ForeignKey("snapshots.id")),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("service_revisions_by_snapshot", "service_revisions", ["snapshot_id"])
    op.create_index("service_revisions_by_context", "service_revisions", ["context"])
    op.create_table(
        "service_replicas",
        sa.Column(
            "run", Serial, sa.ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        _service(),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("seen", sa.Text, nullable=False),
    )
    op.create_index("service_replicas_by_service", "service_replicas", ["service"])
