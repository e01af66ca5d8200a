"""The datasets that runs have written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "run_outputs",
        sa.Column("run", Serial, sa.ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("dataset", Serial, sa.ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
        sa.Column("complete", sa.Integer, nullable=False),
        sa.Column("registered", sa.Text),
        sa.Column("version", sa.BigInteger),
    )
    op.create_index("run_outputs_by_dataset", "run_outputs", ["dataset"])
