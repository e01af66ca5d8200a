"""Which parameters were logged, and what MLflow knows of models and data."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _run(primary_key: bool = False) -> sa.Column[int]:
    key = sa.ForeignKey("runs.serial", ondelete="CASCADE")
    return sa.Column("run", Serial, key, primary_key=primary_key, nullable=False)


def _workspace() -> sa.Column[int]:
    key = sa.ForeignKey("workspaces.serial", ondelete="CASCADE")
    return sa.Column("workspace", Serial, key, primary_key=True, nullable=False)


def upgrade() -> None:
    _make_tables_of_runs()
    _make_tables_of_models()


def _make_tables_of_runs() -> None:
    op.add_column("labels", sa.Column("logged", sa.Integer))
    op.create_table(
        "run_datasets",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        _run(),
        sa.Column("identity", sa.LargeBinary, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("context", sa.Text),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("run", "identity", name="run_datasets_by_identity"),
    )


def _make_tables_of_models() -> None:
    op.create_table(
        "logged_models",
        sa.Column("serial", Serial, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("experiment", Serial, sa.ForeignKey("experiments.serial", ondelete="CASCADE"), nullable=False),
        _run(),
        sa.Column("source_run", sa.Text),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("model_type", sa.Text),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("metrics", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("logged_models_by_run", "logged_models", ["run"])
    op.create_index("logged_models_by_source", "logged_models", ["source_run"])
    op.create_index("logged_models_by_experiment", "logged_models", ["experiment", "serial"])
    op.create_table(
        "run_models",
        _run(primary_key=True),
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("model_id", sa.Text, primary_key=True),
        sa.Column("step", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "registered_models",
        _workspace(),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("description", sa.Text),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "model_aliases",
        _workspace(),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("alias", sa.Text, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "model_origins",
        sa.Column("model", Serial, sa.ForeignKey("models.serial", ondelete="CASCADE"), primary_key=True),
        sa.Column("source", sa.Text),
        sa.Column("run_link", sa.Text),
        sa.Column("logged_model", sa.Text),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
