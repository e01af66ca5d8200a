"""What was dropped of old runs; series in buckets; and chunks whose columns are packed, which need no change here."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("series", sa.Column("thinned_at", sa.BigInteger))
    op.create_table(
        "dropped",
        sa.Column("run", Serial, sa.ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("names", sa.Text, nullable=False),
    )
