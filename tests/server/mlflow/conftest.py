"""A client of MLflow's protocol for the tests: requests as its own client sends them, and what is answered."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import link_sdk
from tests.server.conftest import Answer, Client, Served, serve

from runyard.server.settings import Settings


@dataclass(frozen=True)
class Mlflow:
    client: Client
    workspace: str = "local"

    def call(self, method: str, path: str, value: Any = None, **options: Any) -> Answer:
        return self.client.call(method, f"/mlflow/{self.workspace}/api/2.0/mlflow/{path}", value, **options)

    def ok(self, method: str, path: str, value: Any = None) -> Any:
        answer = self.call(method, path, value)
        assert answer.status == 200, answer.body
        return answer.json

    def refused(self, method: str, path: str, value: Any = None, **options: Any) -> tuple[int, str, str]:
        """The status, the error code and the message of a refusal."""
        answer = self.call(method, path, value, **options)
        assert answer.status >= 400, answer.body
        assert answer.headers["content-type"] == "application/json"
        said = answer.json
        assert set(said) == {"error_code", "message"}, said
        return answer.status, said["error_code"], said["message"]

    def experiment(self, name: str = "trial") -> str:
        return str(self.ok("POST", "experiments/create", {"name": name})["experiment_id"])

    def run(self, experiment: str, **more: Any) -> str:
        return str(self.ok("POST", "runs/create", {"experiment_id": experiment, **more})["run"]["info"]["run_id"])

    def artifact(self, method: str, path: str, **options: Any) -> Answer:
        address = f"/mlflow/{self.workspace}/api/2.0/mlflow-artifacts/artifacts/{path}"
        return self.client.call(method, address, **options)


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path) -> Iterator[Served]:
    """One server for all tests of the protocol: each has a workspace of its own."""
    home = tmp_path_factory.mktemp("mlflow")
    home.chmod(0o700)
    link_sdk(home, laid_sdk)
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as it:
        yield it


@pytest.fixture
def mlflow(mlflow_server: Served) -> Mlflow:
    """Speaks MLflow's protocol to a fresh workspace of `mlflow_server` with the user's token."""
    client, name = mlflow_server.client, f"ws-{uuid.uuid4().hex[:12]}"
    client.ok("POST", "/api/workspaces", {"name": name, "subscription_id": "s", "resource_group": "g"})
    return Mlflow(client, name)
