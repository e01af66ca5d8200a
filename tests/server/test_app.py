from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runyard.server.app import create_app
from runyard.server.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import Client

PROTOCOL = {
    "GET /",
    "GET /health",
    "GET /api/runs/{run_id}/sweep",
    "GET /api/workspaces/{workspace}/secrets",
    "GET /api/workspaces/{workspace}/secrets/{name}",
    "PUT /api/workspaces/{workspace}/secrets/{name}",
    "DELETE /api/workspaces/{workspace}/secrets/{name}",
    "POST /api/runs/{run_id}/sweep/extend",
    "GET /ready",
    "GET /metrics",
    "GET /api/server",
    "GET /api/usage",
    "POST /api/usage",
    "GET /runs/{run_id}",
    "GET /runs/{run_id}/files/{name}",
    "GET /api/workspaces",
    "POST /api/workspaces",
    "GET /api/workspaces/{name}",
    "PATCH /api/workspaces/{name}",
    "DELETE /api/workspaces/{name}",
    "GET /api/workspaces/{workspace}/settings",
    "PUT /api/workspaces/{workspace}/settings/{key}",
    "DELETE /api/workspaces/{workspace}/settings/{key}",
    "GET /api/workspaces/{workspace}/retention",
    "POST /api/workspaces/{workspace}/retention",
    "GET /api/workspaces/{workspace}/environments",
    "POST /api/workspaces/{workspace}/environments",
    "GET /api/workspaces/{workspace}/environments/{name}",
    "GET /api/workspaces/{workspace}/environments/{name}/versions",
    "PUT /api/workspaces/{workspace}/environments/{name}/versions/{version}/labels",
    "GET /api/workspaces/{workspace}/environment-maps",
    "PUT /api/workspaces/{workspace}/environment-maps",
    "DELETE /api/workspaces/{workspace}/environment-maps",
    "GET /api/workspaces/{workspace}/wheels/{name}",
    "PUT /api/workspaces/{workspace}/wheels/{name}",
    "GET /api/workspaces/{workspace}/datasets",
    "POST /api/workspaces/{workspace}/datasets",
    "GET /api/workspaces/{workspace}/datasets/{id}",
    "GET /api/workspaces/{workspace}/datasets/{id}/files",
    "GET /api/workspaces/{workspace}/datasets/{id}/paths",
    "GET /api/workspaces/{workspace}/datasets/{id}/state",
    "GET /api/workspaces/{workspace}/datasets/{id}/folder",
    "GET /api/workspaces/{workspace}/datasets/{id}/content",
    "POST /api/workspaces/{workspace}/datasets/{id}/registrations",
    "GET /api/workspaces/{workspace}/datasets/by-name/{name}",
    "DELETE /api/workspaces/{workspace}/datasets/by-name/{name}",
    "GET /api/workspaces/{workspace}/datasets/by-name/{name}/versions",
    "PATCH /api/workspaces/{workspace}/datasets/by-name/{name}/versions/{version}",
    "GET /api/workspaces/{workspace}/datastores",
    "POST /api/workspaces/{workspace}/datastores",
    "GET /api/workspaces/{workspace}/datastores/{name}",
    "DELETE /api/workspaces/{workspace}/datastores/{name}",
    "PUT /api/workspaces/{workspace}/datastores/{name}/default",
    "GET /api/workspaces/{workspace}/datastores/{name}/files",
    "POST /api/workspaces/{workspace}/datastores/{name}/login",
    "GET /api/workspaces/{workspace}/datastores/{name}/content",
    "PUT /api/workspaces/{workspace}/datastores/{name}/content",
    "GET /api/workspaces/{workspace}/datastores/{name}/upload",
    "POST /api/workspaces/{workspace}/datastores/{name}/addresses",
    "GET /api/workspaces/{workspace}/data-map",
    "PUT /api/workspaces/{workspace}/data-map",
    "DELETE /api/workspaces/{workspace}/data-map",
    "PUT /api/workspaces/{workspace}/experiments/{name}",
    "GET /api/workspaces/{workspace}/experiments",
    "GET /api/experiments/{id}",
    "PATCH /api/experiments/{id}",
    "DELETE /api/experiments/{id}",
    "POST /api/runs",
    "GET /api/runs",
    "GET /api/runs/{run_id}",
    "PATCH /api/runs/{run_id}",
    "POST /api/runs/{run_id}/facts",
    "POST /api/runs/{run_id}/deliveries",
    "POST /api/runs/{run_id}/cancel",
    "DELETE /api/runs/{run_id}",
    "GET /api/runs/{run_id}/events",
    "GET /api/runs/{run_id}/files",
    "GET /api/runs/{run_id}/files/{name}",
    "PUT /api/runs/{run_id}/files/{name}",
    "POST /api/runs/{run_id}/links",
    "POST /api/runs/{run_id}/appends/{name}",
    "POST /api/runs/{run_id}/journals/{writer}",
    "GET /api/runs/{run_id}/metrics",
    "GET /api/runs/{run_id}/metrics/names",
    "GET /api/runs/{run_id}/lines/{name}",
    "GET /api/runs/{run_id}/source",
    "GET /api/runs/{run_id}/source/{name}",
    "POST /api/runs/{run_id}/end",
    "POST /api/runs/{run_id}/outputs",
    "POST /api/runs/{run_id}/preempt",
    "GET /api/runs/{run_id}/meeting",
    "PUT /api/runs/{run_id}/meeting",
    "GET /api/runs/{run_id}/nodes/{node}/plan",
    "GET /api/sdk",
    "GET /api/workspaces/{workspace}/compute",
    "POST /api/workspaces/{workspace}/compute",
    "GET /api/workspaces/{workspace}/compute/{name}",
    "PATCH /api/workspaces/{workspace}/compute/{name}",
    "DELETE /api/workspaces/{workspace}/compute/{name}",
    "GET /api/workspaces/{workspace}/compute/{name}/nodes",
    "PUT /api/snapshots/{id}",
    "GET /api/snapshots/{id}",
    "POST /api/objects",
    "POST /api/objects/fetch",
    "POST /api/objects/handed",
    "DELETE /api/workspaces/{workspace}/models/{name}/{version}",
    "DELETE /api/workspaces/{workspace}/services/{name}",
    "DELETE /api/workspaces/{workspace}/services/{name}/versions/{version}",
    "GET /api/comparisons",
    "GET /api/comparisons/curves",
    "GET /api/workspaces/{workspace}/load",
    "GET /api/workspaces/{workspace}/services/{name}/numbers",
    "GET /api/workspaces/{workspace}/services/{name}/description",
    "POST /api/workspaces/{workspace}/services/{name}/trial",
    "GET /api/server/condition",
    "GET /api/comparisons/source",
    "GET /api/workspaces/{workspace}/models",
    "GET /api/workspaces/{workspace}/models/{name}/{version}",
    "GET /api/workspaces/{workspace}/models/{name}/{version}/files/{path}",
    "GET /api/workspaces/{workspace}/models/{name}/{version}/links",
    "GET /api/workspaces/{workspace}/models/{name}/{version}/manifest",
    "GET /api/workspaces/{workspace}/services",
    "GET /api/workspaces/{workspace}/services/{name}",
    "GET /api/workspaces/{workspace}/services/{name}/keys",
    "GET /api/workspaces/{workspace}/services/{name}/logs",
    "GET /models/{workspace}/{name}/{version}/{path}",
    "PATCH /api/workspaces/{workspace}/models/{name}/{version}",
    "PATCH /api/workspaces/{workspace}/services/{name}",
    "PATCH /api/workspaces/{workspace}/services/{name}/versions/{version}",
    "POST /api/services/stop",
    "POST /api/workspaces/{workspace}/models",
    "POST /api/workspaces/{workspace}/services",
    "POST /api/workspaces/{workspace}/services/{name}/keys",
    "POST /api/workspaces/{workspace}/services/{name}/rollback",
    "POST /api/workspaces/{workspace}/services/{name}/scale",
    "POST /api/workspaces/{workspace}/services/{name}/token",
    "POST /api/workspaces/{workspace}/services/{name}/versions/{version}",
    "DELETE /api/studio/sessions",
    "DELETE /api/studio/sessions/own",
    "DELETE /api/workspaces/{workspace}/views/{name}",
    "GET /api/changes",
    "GET /api/workspaces/{workspace}/table",
    "GET /api/workspaces/{workspace}/table/columns",
    "GET /api/workspaces/{workspace}/table/csv",
    "GET /api/workspaces/{workspace}/table/groups",
    "GET /api/workspaces/{workspace}/table/values",
    "GET /api/workspaces/{workspace}/views",
    "POST /api/run-batches",
    "POST /api/studio/links",
    "PUT /api/workspaces/{workspace}/views/{name}",
}


def test_openapi_describes_every_route_of_the_protocol_with_a_summary(client: Client) -> None:
    described = client.ok("GET", "/openapi.json")
    found = {
        f"{method.upper()} {path}": said for path, all in described["paths"].items() for method, said in all.items()
    }
    assert set(found) == PROTOCOL
    for route, said in found.items():
        # FastAPI makes a summary of the function's name where there is none; ours are sentences.
        assert " " in said["summary"], route
        assert said["operationId"], route
    needed = {route: said["security"] for route, said in found.items()}
    assert [route for route, schemes in needed.items() if not schemes] == ["GET /", "GET /health", "GET /ready"]
    assert needed["GET /runs/{run_id}"] == [{"key": []}]
    assert needed["GET /api/runs"] == [{"token": []}]
    assert set(described["components"]["securitySchemes"]) == {"key", "token"}


def test_no_server_is_made_without_a_token_and_a_secret(home: Path) -> None:
    for settings in (Settings(home, secret="s"), Settings(home, token="t")):
        with pytest.raises(ValueError, match="let everybody in"):
            create_app(settings)


def test_openapi_is_open_and_no_page_loads_from_elsewhere(client: Client) -> None:
    for path in ("/docs", "/redoc"):
        assert client.get(path).code == "not_found"


def test_a_start_loads_neither_the_migrations_nor_prometheus_nor_http_clients() -> None:
    """What is loaded at the start is paid for by whoever waits for the server."""
    late = ["alembic", "prometheus_client", "httpx", "multipart", "python_multipart", "jinja2", "rich", "typer"]
    code = (
        f"import sys, runyard.server.app, runyard.server.uvicorn_server; print([n for n in {late} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
