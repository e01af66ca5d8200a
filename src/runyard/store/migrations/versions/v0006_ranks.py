"""The rank of the process that logged a series."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("series", sa.Column("rank", sa.BigInteger))
