"""The id that ties a database to its home folder."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table("identity", sa.Column("id", sa.Text, primary_key=True))
