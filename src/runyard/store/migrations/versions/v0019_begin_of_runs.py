"""The runs of an experiment in the order of their start, by which MLflow's clients ask for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_index("runs_by_begin", "runs", ["experiment", sa.text("coalesce(started_at, created_at)"), "serial"])
