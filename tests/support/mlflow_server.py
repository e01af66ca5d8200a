"""A server of which each test of MLflow's protocol has a workspace of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import link_sdk
from tests.server.conftest import Served, serve

from runyard.server.settings import Settings


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("mlflow")
    home.chmod(0o700)
    link_sdk(home, laid_sdk)
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as it:
        yield it


@pytest.fixture
def mlflow_workspace(mlflow_server: Served) -> str:
    """The name of a fresh one."""
    name = f"ws-{secrets.token_hex(6)}"
    mlflow_server.client.ok("POST", "/api/workspaces", {"name": name, "subscription_id": "s", "resource_group": "g"})
    return name
