"""MLflow's protocol, as a second face of the store: `/mlflow/<workspace>` is the tracking address of a workspace.

Its forms, error codes and page tokens are MLflow's, so its routes are not in /openapi.json; docs/mlflow.md lists them.
"""

from __future__ import annotations

from runyard.server.mlflow import (
    artifacts,
    experiments,
    logged_models,
    metrics,
    model_versions,
    registered_models,
    runs,
    server_information,
)

ROUTES = (runs, metrics, experiments, artifacts, logged_models, registered_models, model_versions, server_information)
