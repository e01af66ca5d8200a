"""The tables, as SQLAlchemy sees them. `migrations/` makes them; a test compares the two.

Rows are joined by small whole numbers (`serial`); the ids that users see are other columns. Texts of any length are
found by a fingerprint, because PostgreSQL cannot index long ones.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.types import TypeDecorator

from runyard.store.errors import Damaged

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)


def clean(text: str) -> str:
    """Text that every database can hold: no NUL, and no half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def fingerprint(*texts: str) -> bytes:
    """Sixteen bytes that represent texts of any length in an index."""
    return blake2b("\0".join(map(clean, texts)).encode(), digest_size=16).digest()


def _unreadable(what: str, value: object) -> Damaged:
    return Damaged(
        "database_damaged",
        f"A value in the database should be {what}, and is {str(value)[:40]!r}.",
        "Stop the server and put back a copy of the database, or delete what the value belongs to.",
    )


class CleanText(TypeDecorator[str]):
    """Text that users or scripts wrote, in a form that every database can hold."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class Moment(TypeDecorator[datetime]):
    """A time in UTC, stored as whole microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        try:
            return None if value is None else EPOCH + value * MICROSECOND
        except (TypeError, OverflowError) as error:
            raise _unreadable("a time", value) from error


class Document(TypeDecorator[object]):
    """Something that JSON can hold. Null in the column is None."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:
        try:
            return None if value is None else json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise _unreadable("JSON", value) from error


class Digest(TypeDecorator[str]):
    """A SHA-256: 64 hexadecimal digits in Python, 32 bytes in the database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        try:
            return None if value is None else bytes(value).hex()
        except TypeError as error:
            raise _unreadable("a hash", value) from error


metadata = MetaData()

Serial = BigInteger().with_variant(Integer(), "sqlite")


def _serial() -> Column[int]:
    return Column("serial", Serial, primary_key=True, autoincrement=True)


def _run() -> Column[int]:
    return Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), nullable=False)


def _workspace(primary_key: bool = False) -> Column[int]:
    key = ForeignKey("workspaces.serial", ondelete="CASCADE")
    return Column("workspace", Serial, key, primary_key=primary_key, nullable=False)


def _service(primary_key: bool = False) -> Column[int]:
    key = ForeignKey("services.serial", ondelete="CASCADE")
    return Column("service", Serial, key, primary_key=primary_key, nullable=False)


def _context() -> Column[str]:
    """The snapshot that an image is built from: it stays as long as the row does."""
    return Column("context", CleanText, ForeignKey("snapshots.id"))


identity = Table("identity", metadata, Column("id", CleanText, primary_key=True))
"""One row: what ties the database to its home folder (`runyard.store.identity`)."""

workspaces = Table(
    "workspaces",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("name", CleanText, nullable=False, unique=True),
    Column("subscription_id", CleanText, nullable=False),
    Column("resource_group", CleanText, nullable=False),
    Column("location", CleanText, nullable=False),
    Column("friendly_name", CleanText),
    Column("description", CleanText),
    Column("tags", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

experiments = Table(
    "experiments",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    _workspace(),
    Column("name", CleanText, nullable=False),
    Column("tags", Document, nullable=False),
    Column("last_number", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("archived_at", Moment),
    UniqueConstraint("workspace", "name", name="experiments_by_name"),
    sqlite_autoincrement=True,
)

snapshots = Table(
    "snapshots",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("manifest", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

snapshot_objects = Table(
    "snapshot_objects",
    metadata,
    Column("snapshot", Serial, ForeignKey("snapshots.serial", ondelete="CASCADE"), primary_key=True),
    Column("digest", Digest, primary_key=True),
    Index("snapshot_objects_by_digest", "digest"),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("number", BigInteger, nullable=False),
    Column("workspace", Serial, ForeignKey("workspaces.serial"), nullable=False),
    Column("experiment", Serial, ForeignKey("experiments.serial"), nullable=False),
    Column("parent_id", CleanText),
    Column("root_id", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("type", CleanText, nullable=False),
    Column("name", CleanText),
    Column("display_name", CleanText),
    Column("description", CleanText),
    Column("status", CleanText, nullable=False),
    Column("reason", CleanText),
    Column("target", CleanText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("submitted_by", CleanText),
    Column("snapshot_id", CleanText, ForeignKey("snapshots.id")),
    Column("error", Document),
    Column("warnings", Document),
    Column("archived_at", Moment),  # out of sight in lists, unless they ask for it
    UniqueConstraint("experiment", "number", name="runs_by_number"),
    Index("runs_by_workspace", "workspace", "serial"),
    Index("runs_by_workspace_parent", "workspace", "parent_id", "serial"),
    Index("runs_by_workspace_status", "workspace", "status", "serial"),
    Index("runs_by_workspace_type", "workspace", "type", "serial"),
    Index("runs_by_workspace_target", "workspace", "target", "serial"),
    Index("runs_by_experiment", "experiment", "serial"),
    Index("runs_by_experiment_parent", "experiment", "parent_id", "serial"),
    Index("runs_by_experiment_status", "experiment", "status", "serial"),
    Index("runs_by_parent", "parent_id", "serial"),
    Index("runs_by_root", "root_id", "serial"),
    Index("runs_by_status", "status", "serial"),
    Index("runs_by_snapshot", "snapshot_id"),
    sqlite_autoincrement=True,
)


def begun_at() -> ColumnElement[Any]:
    """When a run has started, or was made if it has not: how its index by time has it."""
    return func.coalesce(runs.c.started_at, runs.c.created_at)


Index("runs_by_begin", runs.c.experiment, begun_at(), runs.c.serial)

deleted_runs = Table(
    "deleted_runs",
    metadata,
    Column("id_hash", LargeBinary, primary_key=True),
)

launches = Table(
    "launches",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("definition", Document),
    Column("launch", Document),
    Column("handle", Document),
    Column("context", CleanText),  # the snapshot that the run's image is built from
    Column("nodes", BigInteger, nullable=False, server_default="1"),
    Column("attempt", BigInteger, nullable=False, server_default="1"),
    Column("restart", CleanText),  # why the attempt under way is to be followed by another one
    Column("meeting", Document),  # where the leader of the attempt's nodes is to be met
    Index("launches_by_context", "context"),
)

dropped = Table(
    "dropped",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("kind", CleanText, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("names", Document, nullable=False),  # of the logs that were there
)
"""What retention has dropped of old runs; with nothing to drop, that it was looked for."""

states = Table(
    "states",
    metadata,
    _serial(),
    _run(),
    Column("status", CleanText, nullable=False),
    Column("at", Moment, nullable=False),
    Column("reason", CleanText),
    Index("states_by_run", "run", "serial"),
)

labels = Table(
    "labels",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("kind", CleanText, primary_key=True),
    Column("key_hash", LargeBinary, primary_key=True),
    Column("value_hash", LargeBinary),
    Column("key", CleanText, nullable=False),
    Column("value", CleanText),
    Column("number", Double),  # what the value says, where that is a number: lists are sorted by it
    Column("logged", Integer),  # 1: a parameter that the script has logged itself, which is never changed
    Index("labels_by_value", "kind", "key_hash", "value_hash", "run"),
    Index("labels_by_key", "kind", "key_hash", "run"),
)
Index(
    "labels_by_number",
    *(labels.c.kind, labels.c.key_hash, labels.c.number, labels.c.run),
    sqlite_where=labels.c.number.is_not(None),
    postgresql_where=labels.c.number.is_not(None),
)

files = Table(
    "files",
    metadata,
    _serial(),
    _run(),
    Column("name_hash", LargeBinary, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("digest", Digest),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("run", "name_hash", name="files_by_name"),
    Index("files_by_digest", "digest"),
    sqlite_autoincrement=True,
)

journals = Table(
    "journals",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("writer", CleanText, primary_key=True),
    Column("offset", BigInteger, nullable=False),
)

staged_lines = Table(
    "staged_lines",
    metadata,
    _serial(),
    _run(),
    Column("writer", CleanText, nullable=False),
    Column("lines", LargeBinary, nullable=False),
    Index("staged_lines_by_run", "run"),
)
"""Lines of journals that are confirmed and not yet part of series (`runyard.store.metrics.staging`)."""

series = Table(
    "series",
    metadata,
    _serial(),
    _run(),
    Column("identity", LargeBinary, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("type", CleanText, nullable=False),
    Column("rank", BigInteger),  # of the process that logged it, where it had one
    Column("points", BigInteger, nullable=False),
    Column("chunks", BigInteger, nullable=False),
    Column("thinned_at", Moment),  # when all but the shape of its curve was dropped
    Column("sorted_as", LargeBinary),  # the name's fingerprint, in the one series that stands for it in lists of runs
    Column("experiment", BigInteger),  # of the run, in that series
    Column("last", Double),  # the last value that is a number; null where that is NaN
    Column("last_step", BigInteger),
    Column("last_time", Double),  # null: there is no such value
    UniqueConstraint("run", "identity", name="series_by_identity"),
    sqlite_autoincrement=True,
)
Index(
    "series_by_last",
    *(series.c.sorted_as, series.c.last, series.c.run, series.c.experiment),
    sqlite_where=series.c.sorted_as.is_not(None),
    postgresql_where=series.c.sorted_as.is_not(None),
)

descriptions = Table(
    "descriptions",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("name_hash", LargeBinary, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("text", CleanText, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("series", Serial, ForeignKey("series.serial", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("encoding", CleanText, nullable=False),
    Column("times", LargeBinary, nullable=False),
    Column("steps", LargeBinary),
    Column("values", LargeBinary, nullable=False),
    Column("smallest", Double),
    Column("largest", Double),
)

environments = Table(
    "environments",
    metadata,
    _serial(),
    _workspace(),
    Column("name", CleanText, nullable=False),
    Column("version", CleanText, nullable=False),
    Column("content", Digest, nullable=False),
    Column("definition", Document, nullable=False),
    _context(),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("workspace", "name", "version", name="environments_by_version"),
    Index("environments_by_context", "context"),
    sqlite_autoincrement=True,
)

environment_labels = Table(
    "environment_labels",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("label", CleanText, primary_key=True),
    Column("environment", Serial, ForeignKey("environments.serial", ondelete="CASCADE"), nullable=False),
    Index("environment_labels_by_environment", "environment"),
)

environment_maps = Table(
    "environment_maps",
    metadata,
    _workspace(primary_key=True),
    Column("pattern", CleanText, primary_key=True),
    Column("interpreter", CleanText),
    Column("definition", Document),
    _context(),
    Index("environment_maps_by_context", "context"),
)

datasets = Table(
    "datasets",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    _workspace(),
    Column("definition", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("datasets_by_workspace", "workspace"),
    sqlite_autoincrement=True,
)

dataset_versions = Table(
    "dataset_versions",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("dataset", Serial, ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
    Column("description", CleanText),
    Column("tags", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("dataset_versions_by_dataset", "dataset"),
)

sweeps = Table(
    "sweeps",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("document", Document, nullable=False),
    Column("child_properties", Document, nullable=False),
    Column("began_at", Moment, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("sweep", Serial, ForeignKey("sweeps.run", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("parameters", Document, nullable=False),
    Column("verdict", CleanText),
    Column("best", Double),
    Column("intervals", BigInteger),
)

datastores = Table(
    "datastores",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("kind", CleanText, nullable=False),
    Column("settings", Document, nullable=False),
    Column("secrets", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
)

run_outputs = Table(
    "run_outputs",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("dataset", Serial, ForeignKey("datasets.serial", ondelete="CASCADE"), nullable=False),
    Column("complete", Integer, nullable=False),  # 1: the run has ended well
    Column("registered", CleanText),  # the name that it was registered under
    Column("version", BigInteger),
    Index("run_outputs_by_dataset", "dataset"),
)

workspace_secrets = Table(
    "workspace_secrets",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("key", CleanText, nullable=False),
    Column("content_type", CleanText, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

services = Table(
    "services",
    metadata,
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    _workspace(),
    Column("name", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("error", Document),
    Column("operation", Document, nullable=False),
    Column("settings", Document, nullable=False),
    Column("port", BigInteger, nullable=False),
    Column("keys", Document, nullable=False),  # the names of its secrets; their values are in files
    Column("tags", Document, nullable=False),
    Column("properties", Document, nullable=False),
    Column("description", CleanText),
    Column("compute_target", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("workspace", "name", name="services_by_name"),
    sqlite_autoincrement=True,
)

service_versions = Table(
    "service_versions",
    metadata,
    _service(primary_key=True),
    Column("name", CleanText, primary_key=True),  # empty for a service that is no endpoint
    Column("current", BigInteger),  # the revision that serves
    Column("wanted", BigInteger),  # the revision that is to serve
    Column("replicas", BigInteger, nullable=False),
    Column("traffic", Double, nullable=False),
    Column("is_default", Integer, nullable=False),
    Column("is_control", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
)

service_revisions = Table(
    "service_revisions",
    metadata,
    _service(primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("version", CleanText, nullable=False),
    Column("models", Document, nullable=False),
    Column("launch", Document, nullable=False),
    Column("settings", Document, nullable=False),
    Column("snapshot_id", CleanText, ForeignKey("snapshots.id")),
    _context(),
    Column("state", CleanText, nullable=False),
    Column("reason", CleanText),
    Column("created_at", Moment, nullable=False),
    Index("service_revisions_by_snapshot", "snapshot_id"),
    Index("service_revisions_by_context", "context"),
)

service_replicas = Table(
    "service_replicas",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    _service(),
    Column("version", CleanText, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("role", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("seen", Document, nullable=False),  # what its node runner last reported
    Index("service_replicas_by_service", "service"),
)

workspace_settings = Table(
    "workspace_settings",
    metadata,
    _workspace(primary_key=True),
    Column("key", CleanText, primary_key=True),
    Column("value", CleanText, nullable=False),
)

saved_views = Table(
    "saved_views",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("query", CleanText, nullable=False),  # of the address that shows it
    Column("updated_at", Moment, nullable=False),
)
"""Views of the table of runs that somebody has given a name."""

studio_sessions = Table(
    "studio_sessions",
    metadata,
    Column("hash", LargeBinary, primary_key=True),
    Column("kind", CleanText, nullable=False),  # a link, or the session that one was exchanged for
    Column("host", CleanText, nullable=False),  # the server's name in the address that it is good for
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

wheels = Table(
    "wheels",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("wheels_by_digest", "digest"),
)

compute_targets = Table(
    "compute_targets",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("document", Document, nullable=False),
)

model_names = Table(
    "model_names",
    metadata,
    _workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("last_version", BigInteger, nullable=False),
)
"""The last version that each name has had: the number of one that was deleted is not used again."""

models = Table(
    "models",
    metadata,
    _serial(),
    _workspace(),
    Column("name", CleanText, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("tree", CleanText, ForeignKey("snapshots.id"), nullable=False),  # its files, as a snapshot has them
    Column("root", CleanText, nullable=False),  # the one entry at the top of the tree
    Column("unpack", Integer, nullable=False),  # 1: that entry is a folder
    Column("size", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("framework", CleanText, nullable=False),
    Column("framework_version", CleanText),
    Column("resource_configuration", Document),
    Column("tags", Document, nullable=False),
    Column("properties", Document, nullable=False),
    Column("description", CleanText),
    Column("run_id", CleanText),  # of the run that it came from, which may be deleted since
    Column("experiment", CleanText),
    Column("datasets", Document, nullable=False),
    Column("sample_input", CleanText),
    Column("sample_output", CleanText),
    Column("created_by", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("request", CleanText),  # what a client calls its request, so that a repeated one registers nothing
    UniqueConstraint("workspace", "name", "version", name="models_by_version"),
    UniqueConstraint("workspace", "request", name="models_by_request"),
    Index("models_by_run", "run_id"),
    Index("models_by_tree", "tree"),
    sqlite_autoincrement=True,
)

model_uses = Table(
    "model_uses",
    metadata,
    _workspace(primary_key=True),
    Column("service", CleanText, primary_key=True),
    Column("model", Serial, ForeignKey("models.serial", ondelete="CASCADE"), primary_key=True),
    Index("model_uses_by_model", "model"),
)
"""The services that need a model: as long as there is one, the model cannot be deleted."""

run_datasets = Table(
    "run_datasets",
    metadata,
    _serial(),
    _run(),
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
    _serial(),
    Column("id", CleanText, nullable=False, unique=True),
    Column("experiment", Serial, ForeignKey("experiments.serial", ondelete="CASCADE"), nullable=False),
    _run(),  # whose files hold it
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
    _workspace(primary_key=True),
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
    _workspace(primary_key=True),
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
