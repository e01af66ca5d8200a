"""The tables of what MLflow's protocol has besides: logged models, data that scripts read, aliases, stages."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint

from runyard.store.tables.columns import CleanText, Document, Moment, Serial, metadata, of_run, of_workspace, serial

run_datasets = Table(
    "run_datasets",
    metadata,
    serial(),
    of_run(),
    Column("identity", LargeBinary, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("digest", CleanText, nullable=False),
    Column("context", CleanText),
    Column("document", Document, nullable=False),
    UniqueConstraint("run", "identity", name="run_datasets_by_identity"),
)
"""Data that a script says it has read (`mlflow.log_input`)."""

logged_models = Table(
    "logged_models",
    metadata,
    serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("experiment", Serial, ForeignKey("experiments.serial", ondelete="CASCADE"), nullable=False),
    of_run(),  # whose files hold it
    Column("source_run", CleanText),  # the run that has logged it, if one has
    Column("place", CleanText, nullable=False),  # the folder among the files of the run
    Column("name", CleanText, nullable=False),
    Column("model_type", CleanText),
    Column("status", CleanText, nullable=False),
    Column("parameters", Document, nullable=False),
    Column("tags", Document, nullable=False),
    Column("metrics", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("logged_models_by_run", "run"),
    Index("logged_models_by_source", "source_run"),
    Index("logged_models_by_experiment", "experiment", "serial"),
)

run_models = Table(
    "run_models",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("role", CleanText, primary_key=True),  # input or output
    Column("model_id", CleanText, primary_key=True),
    Column("step", BigInteger, nullable=False),
)
"""The logged models that a run has read or written."""

registered_models = Table(
    "registered_models",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("description", CleanText),
    Column("tags", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
"""What is said of a model as a whole, where something is; there may be no version of it yet."""

model_aliases = Table(
    "model_aliases",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("alias", CleanText, primary_key=True),
    Column("version", BigInteger, nullable=False),
)

model_origins = Table(
    "model_origins",
    metadata,
    Column("model", Serial, ForeignKey("models.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("source", CleanText),  # the address that it was registered from
    Column("run_link", CleanText),
    Column("logged_model", CleanText),
    Column("stage", CleanText, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
"""What MLflow knows of a version of a model besides what every version has."""
