"""Models: their names, their versions, and the services that need them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _workspace(primary_key: bool = False) -> sa.Column[int]:
    key = sa.ForeignKey("workspaces.serial", ondelete="CASCADE")
    return sa.Column("workspace", Serial, key, primary_key=primary_key, nullable=False)


def upgrade() -> None:
    op.create_table(
        "model_names",
        _workspace(primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("last_version", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "models",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        _workspace(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("tree", sa.Text, sa.ForeignKey("snapshots.id"), nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.Column("unpack", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("files", sa.BigInteger, nullable=False),
        sa.Column("framework", sa.Text, nullable=False),
        sa.Column("framework_version", sa.Text),
        sa.Column("resource_configuration", sa.Text),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("properties", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("experiment", sa.Text),
        sa.Column("datasets", sa.Text, nullable=False),
        sa.Column("sample_input", sa.Text),
        sa.Column("sample_output", sa.Text),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("request", sa.Text),
        sa.UniqueConstraint("workspace", "name", "version", name="models_by_version"),
        sa.UniqueConstraint("workspace", "request", name="models_by_request"),
        sqlite_autoincrement=True,
    )
    op.create_index("models_by_run", "models", ["run_id"])
    op.create_index("models_by_tree", "models", ["tree"])
    op.create_table(
        "model_uses",
        _workspace(primary_key=True),
        sa.Column("service", sa.Text, primary_key=True),
        sa.Column("model", Serial, sa.ForeignKey("models.serial", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("model_uses_by_model", "model_uses", ["model"])
