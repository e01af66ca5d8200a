"""The tables, as SQLAlchemy sees them, by subject. `migrations/` makes them; a test compares the two."""

from __future__ import annotations

from runyard.store.tables.columns import (
    EPOCH,
    MICROSECOND,
    CleanText,
    Digest,
    Document,
    Moment,
    Serial,
    clean,
    fingerprint,
    metadata,
)
from runyard.store.tables.content import dropped, files, snapshot_objects, snapshots, wheels
from runyard.store.tables.data import dataset_versions, datasets, datastores, run_outputs, workspace_secrets
from runyard.store.tables.environment import compute_targets, environment_labels, environment_maps, environments
from runyard.store.tables.metrics import chunks, descriptions, journals, series, staged_lines
from runyard.store.tables.mlflow import (
    logged_models,
    model_aliases,
    model_origins,
    registered_models,
    run_datasets,
    run_models,
)
from runyard.store.tables.model import model_names, model_uses, models
from runyard.store.tables.run import begun_at, deleted_runs, labels, launches, runs, states
from runyard.store.tables.service import service_replicas, service_revisions, service_versions, services
from runyard.store.tables.studio import saved_views, studio_sessions
from runyard.store.tables.sweep import sweeps, trials
from runyard.store.tables.workspace import experiments, identity, workspace_settings, workspaces

__all__ = [
    "EPOCH",
    "MICROSECOND",
    "CleanText",
    "Digest",
    "Document",
    "Moment",
    "Serial",
    "begun_at",
    "chunks",
    "clean",
    "compute_targets",
    "dataset_versions",
    "datasets",
    "datastores",
    "deleted_runs",
    "descriptions",
    "dropped",
    "environment_labels",
    "environment_maps",
    "environments",
    "experiments",
    "files",
    "fingerprint",
    "identity",
    "journals",
    "labels",
    "launches",
    "logged_models",
    "metadata",
    "model_aliases",
    "model_names",
    "model_origins",
    "model_uses",
    "models",
    "registered_models",
    "run_datasets",
    "run_models",
    "run_outputs",
    "runs",
    "saved_views",
    "series",
    "service_replicas",
    "service_revisions",
    "service_versions",
    "services",
    "snapshot_objects",
    "snapshots",
    "staged_lines",
    "states",
    "studio_sessions",
    "sweeps",
    "trials",
    "wheels",
    "workspace_secrets",
    "workspace_settings",
    "workspaces",
]
