"""Sweeps: what they were asked to do, and the trials that they have made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sweeps",
        sa.Column(
            "run", Serial, sa.ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("child_properties", sa.Text, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "trials",
        sa.Column(
            "sweep", Serial, sa.ForeignKey("sweeps.run", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("best", sa.Double),
        sa.Column("intervals", sa.BigInteger),
    )
