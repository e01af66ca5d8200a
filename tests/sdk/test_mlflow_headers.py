"""The token goes to this package's servers, and to nobody else's."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from runyard.sdk import mlflow_headers
from runyard.sdk.mlflow_headers import RunyardHeaders


@pytest.mark.parametrize(
    ("tracking", "registry", "variables", "expected"),
    [
        ("http://ours:1/mlflow/local", "http://ours:1/mlflow/local/", {}, {"Authorization": "Bearer secret"}),
        ("http://ours:1/mlflow/local", "http://theirs:2", {}, {}),
        ("http://theirs:2", "http://theirs:2", {}, {}),
        ("http://ours:1/mlflow/local", "http://ours:1/mlflow/local", {"MLFLOW_TRACKING_TOKEN": "mine"}, {}),
        ("sqlite:///mlflow.db", "sqlite:///mlflow.db", {}, {}),
    ],
)
def test_whom_the_token_is_shown(
    monkeypatch: pytest.MonkeyPatch, tracking: str, registry: str, variables: dict[str, str], expected: dict[str, str]
) -> None:
    for name in ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(mlflow_headers, "_known", {})
    mlflow_headers.know("http://ours:1/mlflow/local/", "secret")
    told = SimpleNamespace(get_tracking_uri=lambda: tracking, get_registry_uri=lambda: registry)
    monkeypatch.setitem(sys.modules, "mlflow", told)
    plugin = RunyardHeaders()
    assert plugin.request_headers() == expected
    assert plugin.in_context() == bool(expected)
    monkeypatch.delitem(sys.modules, "mlflow")
    assert not plugin.in_context()
