"""Environments: their versions and labels, maps, private wheels, and the settings of a workspace."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # SQLite cannot add a column that refers to another table in a way that Alembic knows: the index has to do.
    op.add_column("launches", sa.Column("context", sa.Text))
    op.create_index("launches_by_context", "launches", ["context"])
    _environments()
    _settings()
    _wheels()


def _workspace(primary_key: bool = False) -> sa.Column[int]:
    key = sa.ForeignKey("workspaces.serial", ondelete="CASCADE")
    return sa.Column("workspace", Serial, key, primary_key=primary_key, nullable=False)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _context() -> sa.Column[str]:
    return sa.Column("context", sa.Text, sa.ForeignKey("snapshots.id"))


def _environments() -> None:
    op.create_table(
        "environments",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        _workspace(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        _context(),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("workspace", "name", "version", name="environments_by_version"),
        sqlite_autoincrement=True,
    )
    op.create_index("environments_by_context", "environments", ["context"])
    op.create_table(
        "environment_labels",
        _workspace(primary_key=True),
        _key("name"),
        _key("label"),
        sa.Column("environment", Serial, sa.ForeignKey("environments.serial", ondelete="CASCADE"), nullable=False),
    )
    op.create_index("environment_labels_by_environment", "environment_labels", ["environment"])
    op.create_table(
        "environment_maps",
        _workspace(primary_key=True),
        _key("pattern"),
        sa.Column("interpreter", sa.Text),
        sa.Column("definition", sa.Text),
        _context(),
    )
    op.create_index("environment_maps_by_context", "environment_maps", ["context"])


def _settings() -> None:
    op.create_table(
        "workspace_settings",
        _workspace(primary_key=True),
        _key("key"),
        sa.Column("value", sa.Text, nullable=False),
    )


def _wheels() -> None:
    op.create_table(
        "wheels",
        _workspace(primary_key=True),
        _key("name"),
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("wheels_by_digest", "wheels", ["digest"])
