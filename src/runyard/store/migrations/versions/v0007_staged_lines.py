"""Lines of journals that wait to become points of series."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "staged_lines",
        sa.Column("serial", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("run", _SERIAL, sa.ForeignKey("runs.serial", ondelete="CASCADE"), nullable=False),
        sa.Column("writer", sa.Text, nullable=False),
        sa.Column("lines", sa.LargeBinary, nullable=False),
    )
    op.create_index("staged_lines_by_run", "staged_lines", ["run"])
