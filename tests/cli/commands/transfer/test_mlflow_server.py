"""A real `mlflow server`, filled by its own client: its history is brought here, and ours goes there."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.conftest import Shell
from tests.cli.transfer.conftest import written
from tests.support.frameworks import environment
from tests.support.waiting import wait_until

from runyard.cli.transfer.records import SourceRun
from runyard.cli.transfer.rest import MlflowServer
from runyard.contracts.home import read_server, read_token

pytestmark = [pytest.mark.slow, pytest.mark.framework]


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[MlflowServer]:
    """MLflow's own server, with a database and artifacts of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "theirs"
    folder.mkdir()
    command: list[str | Path] = [
        environment("mlflow").with_name("mlflow"),
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RUNYARD_"))}
    known["HOME"] = str(folder)
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=output,
            env=known,
            start_new_session=True,
        )
    try:
        wait_until(lambda: process.poll() is not None or _answers(port), "MLflow's server", 120)
        assert process.poll() is None, log.read_text("utf-8", "replace")
        yield MlflowServer(f"http://127.0.0.1:{port}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):  # how soon it ends on a busy machine is not ours to judge
            process.wait(20)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def whole(server: MlflowServer, id: str) -> tuple[SourceRun, dict[str, list[tuple[str, int, int]]], dict[str, bytes]]:
    """A run, the points of its metrics, and its files."""
    run = server.run(id)
    points = {
        metric: sorted((repr(value), time, step) for value, time, step in server.history(run, metric))
        for metric in run.metrics
    }
    files = {}
    for path, opened in server.files(run):
        with opened() as file:
            files[path] = file.read()
    return run, points, files


def test_there_and_back(shell: Shell, theirs: MlflowServer, tmp_path: Path) -> None:
    ids = written(tmp_path, theirs.name, "mlflow").ids
    said = shell.json("import", "mlflow", theirs.name)
    assert (said["runs"], said["points"], said["files"], said["versions"], said["lost"]) == (3, 1502, 2, 2, [])
    running = read_server(shell.home)
    assert running is not None
    ours = MlflowServer(f"{running.url}/mlflow/local", f"Bearer {read_token(shell.home)}")
    for id in ids.values():
        there, their_points, their_files = whole(theirs, id)
        here, points, files = whole(ours, id)
        assert (points, files) == (their_points, their_files)
        same = ("id", "name", "user", "status", "start_time", "end_time", "deleted", "parameters")
        assert [getattr(here, name) for name in same] == [getattr(there, name) for name in same]
        # What a tag says of the place of its artifacts is said anew; all others are as they were.
        assert {name: here.tags.get(name) for name in there.tags} == there.tags
    assert math.isnan(next(value for value, _, step in ours.history(ours.run(ids["parent"]), "odd") if step == 0))
    assert ours.models()[0].aliases == theirs.models()[0].aliases == {"champion": 2}
    assert [each.tags["x"] for each in ours.models()[0].versions] == ["y", "y"]
    again = shell.json("import", "mlflow", theirs.name)
    assert (again["runs"], again["skipped"], again["points"], again["versions"]) == (0, 3, 0, 0)

    # A run of ours goes to them: with its points, parameters, tags and files, under an id of their own.
    run = shell.completed(
        "from azureml.core import Run; run = Run.get_context(); [run.log('loss', 1 / (n + 1)) for n in range(1200)]; "
        "run.log('odd', float('nan')); run.tag('team', 'blue'); open('outputs/x.txt', 'w').write('ours')"
    )
    sent = shell.json("export", run["id"], theirs.name, "--to", "mlflow")
    assert (sent["runs"], sent["points"], sent["files"], sent["lost"]) == (1, 1201, 1, [])
    found = [
        each
        for experiment in theirs.experiments()
        for each in theirs.runs(experiment)
        if each.tags.get("runyard.carried.from") == run["id"]
    ]
    assert len(found) == 1
    there, their_points, their_files = whole(theirs, found[0].id)
    here, points, files = whole(ours, run["id"])
    assert (their_points, their_files) == (points, files)
    assert files["x.txt"] == b"ours"
    assert (there.status, there.start_time, there.end_time) == (here.status, here.start_time, here.end_time)
    assert there.tags["team"] == "blue"
    assert shell.json("export", run["id"], theirs.name)["skipped"] == 1
