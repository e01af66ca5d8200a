"""The ids of deleted runs, which are not used again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table("deleted_runs", sa.Column("id_hash", sa.LargeBinary, primary_key=True))
