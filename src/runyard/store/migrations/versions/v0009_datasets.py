"""Datasets: definitions, and the names and versions that they are registered under."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "datasets",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("workspace", Serial, sa.ForeignKey("workspaces.serial", ondelete="CASCADE"), nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("datasets_by_workspace", "datasets", ["workspace"])
    op.create_table(
        "dataset_versions",
        sa.Column("workspace", Serial, sa.ForeignKey("workspaces.serial", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("dataset", Serial, sa.ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("dataset_versions_by_dataset", "dataset_versions", ["dataset"])
