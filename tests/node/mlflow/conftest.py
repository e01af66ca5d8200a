"""MLflow's client as a run meets it: requests to the address of a node runner, with its server away."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts import journal
from runyard.contracts.plan import Launch, Plan
from runyard.node.mlflow import face
from runyard.node.mlflow.address import Address


@dataclass
class Spoken:
    """One address, and what was written there."""

    address: Address
    folder: Path
    plan: Plan

    def ask(
        self, method: str, path: str, value: Any = None, token: str | None = None, body: Any = None
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=30)
        try:
            sent = json.dumps(value).encode() if value is not None else body
            headers = {"Authorization": f"Bearer {self.address.token if token is None else token}"}
            connection.request(method, f"/mlflow/local/api/2.0/{path}", sent, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"{}")
        finally:
            connection.close()

    def records(self, run_id: str | None = None) -> list[Any]:
        found = []
        for file in (self.folder / "telemetry" / "journal").glob("*.jsonl"):
            if journal.parse_file_name(file.name)[0] == (run_id or self.plan.run_id):
                found += [json.loads(line) for line in file.read_bytes().splitlines()]
        return found


def plan_of(**told: Any) -> Plan:
    usual: dict[str, Any] = {
        **{name: name for name in ("root_run_id", "experiment", "subscription_id", "resource_group")},
        "run_id": "run-1",
        "experiment_id": "e-1",
        "workspace": "local",
        "target": "local",
        "token": "run.t",
        "server_url": "http://127.0.0.1:9",
        "launch": Launch(script="train.py"),
    }
    return Plan(**{**usual, **told})


@pytest.fixture
def spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spoken:
    """Its server is away, and waited for no longer than it takes to see that."""
    monkeypatch.setattr(face, "PATIENCE", 0.0)
    monkeypatch.setattr(face, "DELIVERED_WITHIN", 0.0)
    monkeypatch.setattr(face, "GLANCE", 0.0)
    (tmp_path / "telemetry" / "journal").mkdir(parents=True)
    plan = plan_of()
    address = Address(plan, tmp_path)
    address.answer()
    return Spoken(address, tmp_path, plan)
