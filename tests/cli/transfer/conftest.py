"""Histories that MLflow itself has written, and a server to bring them to."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.server.conftest import Served
from tests.support.frameworks import environment

from runyard.cli.transfer.rest import MlflowServer

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


@pytest.fixture
def target(mlflow_server: Served, mlflow_workspace: str) -> MlflowServer:
    """A fresh workspace of a server."""
    client = mlflow_server.client
    return MlflowServer(f"{client.url}/mlflow/{mlflow_workspace}", f"Bearer {client.token}")
