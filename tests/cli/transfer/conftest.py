"""Histories that MLflow itself has written, and a server to bring them to."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import link_sdk
from tests.server.conftest import Served, serve
from tests.support.frameworks import environment

from runyard.cli.transfer.rest import MlflowServer
from runyard.server.settings import Settings

FILL = Path(__file__).resolve().parents[2] / "support" / "mlflow_fill.py"


@dataclass(frozen=True)
class Written:
    """What MLflow has written, and the ids of its runs."""

    folder: Path
    ids: dict[str, str]


def written(folder: Path, address: str, framework: str) -> Written:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RUNYARD_"))}
    command: list[str | Path] = [environment(framework), FILL, address]
    done = subprocess.run(command, cwd=folder, env={**known, "HOME": str(folder)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Written(folder, json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A database of the current MLflow, `mlflow.db`."""
    folder = tmp_path_factory.mktemp("database")
    return written(folder, f"sqlite:///{folder}/mlflow.db", "mlflow")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The files of an MLflow of 2.x, `mlruns`."""
    folder = tmp_path_factory.mktemp("folders")
    return written(folder, str(folder / "mlruns"), "mlflow2")


@pytest.fixture(scope="session")
def transfer_server(tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("transfer")
    home.chmod(0o700)
    link_sdk(home, laid_sdk)
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as it:
        yield it


@pytest.fixture
def target(transfer_server: Served) -> MlflowServer:
    """A fresh workspace of the server."""
    client, name = transfer_server.client, f"ws-{secrets.token_hex(6)}"
    client.ok("POST", "/api/workspaces", {"name": name, "subscription_id": "s", "resource_group": "g"})
    return MlflowServer(f"{client.url}/mlflow/{name}", f"Bearer {client.token}")
