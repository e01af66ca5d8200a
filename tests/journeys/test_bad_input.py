"""What a user may do wrong: each mistake has a message that says what is wrong and what to do, and costs nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from azureml.core import Experiment, ScriptRunConfig, Workspace
from azureml.exceptions import (
    AzureMLException,
    ExperimentExecutionException,
    SnapshotException,
    UserErrorException,
)
from runyard.client import http
from runyard.client.server_process import stop_server

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard


def refused(yard: Yard, config: ScriptRunConfig, kind: type[Exception]) -> str:
    """Submit, expect a refusal, and that no run was made; returns the message."""
    experiment = Experiment(yard.workspace, "refused")
    with pytest.raises(kind) as caught:
        experiment.submit(config)
    assert list(experiment.get_runs()) == []
    return str(caught.value)


def test_a_missing_script(shared_yard: Yard) -> None:
    config = shared_yard.config("print('hello')")
    config.script = config.run_config.script = "trian.py"
    message = refused(shared_yard, config, ExperimentExecutionException)
    assert "trian.py" in message
    assert "train.py" in message, "the message shows what is there"


def test_an_empty_folder(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    os.unlink(Path(str(config.source_directory)) / "train.py")
    message = refused(shared_yard, config, ExperimentExecutionException)
    assert "train.py" in message
    assert "empty" in message


def test_a_folder_that_is_not_there(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    config.source_directory = str(shared_yard.folder / "nowhere")
    assert "nowhere" in refused(shared_yard, config, AzureMLException)


def test_a_huge_folder_is_taken_with_a_warning_that_names_what_is_large(
    shared_yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    config = shared_yard.config("import os; print(os.path.getsize('weights/old.bin'))")
    weights = Path(str(config.source_directory)) / "weights"
    weights.mkdir()
    with open(weights / "old.bin", "wb") as file:
        file.truncate(301 * 1024 * 1024)
    run = Experiment(shared_yard.workspace, "huge").submit(config)
    [warning] = [record.getMessage() for record in caplog.records if "MB" in record.getMessage()]
    assert "weights/ (316 MB)" in warning
    assert ".amlignore" in warning
    run.wait_for_completion()
    assert str(301 * 1024 * 1024) in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]


def test_a_file_that_cannot_be_read(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    # A file that opens and then refuses to be read, for the administrator too.
    os.symlink("/proc/self/mem", Path(str(config.source_directory)) / "locked.bin")
    message = refused(shared_yard, config, SnapshotException)
    assert "locked.bin" in message
    assert ".amlignore" in message


@pytest.mark.parametrize("name", ["", "_x", "a b", "x" * 256, "a/b", "ä"])
def test_a_name_against_the_rules_of_experiments(shared_yard: Yard, name: str) -> None:
    with pytest.raises(UserErrorException, match="letters"):
        Experiment(shared_yard.workspace, name)


@pytest.mark.parametrize("name", ["ab", "x" * 34, "a b c", "../../etc"])
def test_a_name_against_the_rules_of_workspaces(shared_yard: Yard, name: str) -> None:
    with pytest.raises(UserErrorException, match="letters"):
        Workspace.create(name=name, subscription_id="s", resource_group="g")


def test_both_script_and_command(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    config.command = "echo hello"
    message = refused(shared_yard, config, UserErrorException)
    assert "script" in message
    assert "command" in message


def test_an_unknown_target(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    config.run_config.target = "gpu-cluster"
    message = refused(shared_yard, config, AzureMLException)
    assert "gpu-cluster" in message
    assert "local" in message


def test_an_interpreter_that_is_not_there(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    config.run_config.environment.python.interpreter_path = "/nowhere/bin/python"
    assert "/nowhere/bin/python" in refused(shared_yard, config, AzureMLException)


def test_a_module_that_is_not_installed(shared_yard: Yard) -> None:
    run = shared_yard.submit("import sklearn_that_is_not_there")
    error = run.wait_for_completion(raise_on_error=False)["error"]
    assert error["exception"]["type"] == "ModuleNotFoundError"
    assert error["exception"]["frames"][-1]["file"] == "train.py"
    assert error["exception"]["frames"][-1]["line"] == 1
    assert "sklearn_that_is_not_there" in error["help"]
    assert "add_pip_package" in error["help"]


@pytest.mark.parametrize(("protocol", "words"), [(0, "where this client runs"), (99, "where the server runs")])
def test_a_client_of_another_version(
    shared_yard: Yard, monkeypatch: pytest.MonkeyPatch, protocol: int, words: str
) -> None:
    workspace = shared_yard.workspace
    monkeypatch.setattr(http, "PROTOCOL", protocol)
    with pytest.raises(AzureMLException, match=words):
        Experiment(workspace, "versions")


def test_a_damaged_database_is_named_and_left_as_it_is(yard: Yard) -> None:
    run = yard.submit("print('hello')")
    run.wait_for_completion()
    # A runner that has not heard yet that its last report arrived would wait for a server that never comes back.
    yard.wait(lambda: not yard.processes(str(yard.home / "runs" / run.id)), "the runner's end")
    yard.kill_server()
    for rest in yard.home.glob("runyard.db-*"):
        rest.unlink()
    damaged = b"this is not a database" * 1000
    (yard.home / "runyard.db").write_bytes(damaged)
    with pytest.raises(AzureMLException) as caught:
        yard.workspace  # noqa: B018
    assert "runyard.db" in str(caught.value)
    assert "damaged" in str(caught.value)
    assert (yard.home / "runyard.db").read_bytes() == damaged


@pytest.fixture
def small_disk(disk_of: Callable[[str], Path]) -> Path:
    return disk_of("48m")


FILLS_THE_DISK = """
import os
from azureml.core import Run
run = Run.get_context()
run.log('before', 1)
with open('filler', 'wb') as f:
    try:
        while True:
            os.write(f.fileno(), b'x' * 65536)
    except OSError as error:
        assert error.errno == 28
    try:
        while True:
            os.write(f.fileno(), b'x')
    except OSError:
        pass
for step in range(20_000):
    run.log('loss', float(step))
os.unlink('filler')
run.log('after', 1)
"""


def test_a_full_disk_fails_no_training_and_loses_no_metric(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    home = small_disk / "home"
    request.getfixturevalue("home")
    monkeypatch.setenv("RUNYARD_HOME", str(home))
    yard: Yard = request.getfixturevalue("yard")
    yard.home = home
    monkeypatch.setenv("RUNYARD_HOME", str(home))
    run = yard.submit(FILLS_THE_DISK)
    assert run.wait_for_completion()["status"] == "Completed"
    metrics = run.get_metrics()
    assert metrics["before"] == metrics["after"] == 1
    assert metrics["loss"] == [float(step) for step in range(20_000)]

    big = yard.folder / "big.bin"
    with open(big, "wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(AzureMLException, match="space"):
        run.upload_file("big.bin", str(big))
    run.upload_file("small.txt", __file__)
    assert "small.txt" in run.get_file_names()
    assert "big.bin" not in run.get_file_names()
    stop_server(home)
