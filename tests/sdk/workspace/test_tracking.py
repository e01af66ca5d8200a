"""The address that a notebook gives to MLflow."""

from __future__ import annotations

import os

import pytest

from runyard.client.http import Client, Locator
from runyard.sdk import mlflow_headers
from runyard.sdk.workspace import tracking


def test_the_address_of_a_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(Locator("http://ours:1/", "secret"))
    monkeypatch.setattr(mlflow_headers, "_known", {})
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5/mlflow/local")
    monkeypatch.delenv("MLFLOW_TRACKING_TOKEN", raising=False)
    assert tracking.tracking_uri(client, "local", in_run=True) == "http://127.0.0.1:5/mlflow/local"
    assert mlflow_headers._known == {}
    address = tracking.tracking_uri(client, "local", in_run=False)
    assert address == "http://ours:1/mlflow/local"
    assert mlflow_headers._known == {address: "secret"}
    monkeypatch.setattr(tracking, "_has_plugin", lambda: False)
    tracking.tracking_uri(client, "local", in_run=False)
    assert os.environ["MLFLOW_TRACKING_TOKEN"] == "secret"
    monkeypatch.delenv("MLFLOW_TRACKING_TOKEN")
