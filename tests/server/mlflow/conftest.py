"""A client of MLflow's protocol for the tests: requests as its own client sends them, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tests.server.conftest import Answer, Client, Served


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


@pytest.fixture
def mlflow(mlflow_server: Served, mlflow_workspace: str) -> Mlflow:
    """Speaks MLflow's protocol to a fresh workspace of `mlflow_server` with the user's token."""
    return Mlflow(mlflow_server.client, mlflow_workspace)
