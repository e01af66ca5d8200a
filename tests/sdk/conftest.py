"""A real server per worker for the tests of the SDK, and a workspace on it."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.client.server_process import ensure_server, stop_server
from runyard.sdk.experiment import Experiment
from runyard.sdk.telemetry import telemetry
from runyard.sdk.workspace import service as services
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture(scope="session")
def server_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a running server. Tests share it, and tell their things apart by the names of experiments."""
    home = tmp_path_factory.mktemp("home")
    ensure_server(home)
    yield home
    end_home(home)


def end_home(home: Path) -> None:
    """Stop the server and the shippers of a home."""
    stop_server(home)
    shutil.rmtree(home / "telemetry", ignore_errors=True)
    deadline = time.monotonic() + 20
    own = [shipper for shipper in telemetry._shippers if str(home) in str(shipper.args)]
    while any(shipper.poll() is None for shipper in own):
        assert time.monotonic() < deadline, "a shipper outlived its folder"
        time.sleep(0.02)


@pytest.fixture
def workspace(server_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The local workspace of the shared server; the working folder is empty."""
    _leave_any_run(monkeypatch)
    monkeypatch.setenv("RUNYARD_HOME", str(server_home))
    monkeypatch.chdir(tmp_path)
    return Workspace.from_config()


@pytest.fixture
def own_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the test's own, for tests that stop or kill its server."""
    _leave_any_run(monkeypatch)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield home
    end_home(home)
    services._local.pop((os.getpid(), home), None)


@pytest.fixture
def experiment(workspace: Workspace) -> Experiment:
    """An experiment of the test's own."""
    return Experiment(workspace, f"test-{uuid.uuid4().hex[:12]}")


def _leave_any_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may themselves be run by a run."""
    for name in list(os.environ):
        if name.startswith(("AZUREML_", "RUNYARD_")) and name != "RUNYARD_HOME":
            monkeypatch.delenv(name)
