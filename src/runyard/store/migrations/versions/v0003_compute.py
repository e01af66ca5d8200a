"""Compute targets, and runs that are started more than once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("launches", sa.Column("nodes", sa.BigInteger, nullable=False, server_default="1"))
    op.add_column("launches", sa.Column("attempt", sa.BigInteger, nullable=False, server_default="1"))
    op.add_column("launches", sa.Column("restart", sa.Text))
    op.add_column("launches", sa.Column("meeting", sa.Text))
    op.create_table(
        "compute_targets",
        sa.Column(
            "workspace",
            Serial,
            sa.ForeignKey("workspaces.serial", ondelete="CASCADE"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
    )
