"""Submitting: what is wrong is said before anything is sent, and what is right runs and is followed to its end."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import (
    ActivityFailedException,
    ExperimentExecutionException,
    UserErrorException,
    WorkspaceException,
)
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.submit.script_run import ScriptRun
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def project(workspace: Workspace, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def configured(folder: Path, text: str | None = None, **options: Any) -> ScriptRunConfig:
    if text is not None:
        (folder / "train.py").write_text(text)
    options.setdefault("script", "train.py")
    return ScriptRunConfig(str(folder), **options)


def managed(**python: Any) -> Environment:
    environment = Environment("mine")
    environment.python.user_managed_dependencies = True
    for name, value in python.items():
        setattr(environment.python, name, value)
    return environment


def test_a_script_runs_and_its_story_is_told(
    experiment: Experiment, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = (
        "import os, sys\n"
        "from azureml.core import Run\n"
        "run = Run.get_context(allow_offline=False)\n"
        "print('arguments', sys.argv[1:], os.environ['MODE'], os.getcwd() != sys.argv[-1])\n"
        "run.log('loss', 0.5)\n"
        "run.tag('from', 'inside')\n"
        "with run.child_run('fold') as child: child.log('a', 1)\n"
        "os.makedirs('outputs', exist_ok=True); open('outputs/model.txt', 'w').write('m')\n"
        "print('no line break', end='')\n"
    )
    config = configured(project, script, arguments=["--lr", 0.1, "--n", 3, str(project)], environment=managed())
    config.run_config.environment_variables = {"MODE": "test"}
    run = experiment.submit(config, tags={"k": "v"})
    assert isinstance(run, ScriptRun)
    assert run.id.startswith(f"{experiment.name}_")
    details = run.wait_for_completion(show_output=True)
    shown = capsys.readouterr().out
    assert details["status"] == run.get_status() == "Completed"
    assert details["runDefinition"]["script"] == "train.py"
    assert shown.startswith(f"RunId: {run.id}\nWeb View: http")
    assert "Streaming user_logs/std_log.txt\n" + "=" * 31 + "\n" in shown
    assert (
        f"arguments ['--lr', '0.1', '--n', '3', '{project}'] test True\nno line break\n\nExecution Summary\n" in shown
    )
    assert run.get_metrics() == {"loss": 0.5}
    assert run.get_tags() == {"k": "v", "from": "inside"}
    assert "outputs/model.txt" in run.get_file_names()
    (child,) = run.get_children()
    assert (child.get_metrics(), child.get_status()) == ({"a": 1}, "Completed")
    assert run.get_environment().name == "mine"
    assert f"user-managed: {sys.executable}" == run.get_properties()["runyard.environment"]
    assert type(Run.get(experiment.workspace, run.id)) is ScriptRun


def test_submitted_twice_it_is_two_runs(experiment: Experiment, project: Path) -> None:
    config = configured(project, "pass")
    first, second = experiment.submit(config), experiment.submit(config)
    assert first.id != second.id
    for run in (first, second):
        assert run.wait_for_completion()["status"] == "Completed"
    assert first.get_snapshot_id() == second.get_snapshot_id()
    assert first.get_properties()["runyard.environment"] == f"current interpreter: {sys.executable}"


def test_a_command(experiment: Experiment, project: Path) -> None:
    config = ScriptRunConfig(str(project), command=["echo", "hello", "$AZUREML_RUN_ID"])
    run = experiment.submit(config)
    run.wait_for_completion()
    assert run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"] == f"hello {run.id}\n"


def test_the_longest_name_of_an_experiment_runs(workspace: Workspace, project: Path) -> None:
    experiment = Experiment(workspace, "e" * 255)
    run = experiment.submit(configured(project, command=["true"], script=None, environment=managed()))
    assert run.wait_for_completion()["status"] == "Completed"
    assert run.experiment.name == experiment.name


def test_a_failed_run_raises_with_its_error_in_a_few_lines(
    experiment: Experiment, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "def read(rows):\n    return rows['loss']\n\nread({})\n"
    run = experiment.submit(configured(project, script))
    with pytest.raises(ActivityFailedException) as raised:
        run.wait_for_completion()
    error = raised.value
    assert str(error).splitlines() == [
        f"Run {run.id} has failed: train.py failed with exit code 1: KeyError: 'loss'",
        "  train.py:4 in <module>",
        "      read({})",
        "  train.py:2 in read",
        "      return rows['loss']",
        f"  `runyard logs {run.id}` shows its log.",
    ]
    assert error.message == str(error)
    assert error.run_id == run.id
    assert error.error == run.get_details()["error"]
    assert json.loads(error.error_details)["exception"]["type"] == "KeyError"
    assert run.wait_for_completion(show_output=True, raise_on_error=False)["status"] == "Failed"
    shown = capsys.readouterr().out
    assert "Error:\ntrain.py failed with exit code 1: KeyError: 'loss'\ntrain.py:4 in <module>\n" in shown
    assert '"exception"' not in shown


def test_a_cancelled_run_does_not_raise(experiment: Experiment, project: Path) -> None:
    run = experiment.submit(configured(project, "import time; time.sleep(600)"))
    while run.get_status() != "Running":
        time.sleep(0.02)
    run.cancel()
    assert run.wait_for_completion()["status"] == "Canceled"


@pytest.fixture
def python_hears_ctrl_c() -> Iterator[None]:
    """As in a program of its own: whatever this process has loaded for other tests may have taken the signal."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.usefixtures("python_hears_ctrl_c")
def test_ctrl_c_ends_the_wait_and_not_the_run(experiment: Experiment, project: Path) -> None:
    script = "import os, time\nwhile not os.path.exists('stop'): time.sleep(0.02)"
    run = experiment.submit(configured(project, script))
    timer = threading.Timer(0.5, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    timer.start()
    with pytest.raises(ExperimentExecutionException, match="goes on"):
        run.wait_for_completion(show_output=True)
    timer.join()
    assert run.get_status() not in ("Completed", "Failed", "Canceled")
    run.cancel()
    run.wait_for_completion()


def test_a_child_is_submitted_below_its_run(experiment: Experiment, project: Path) -> None:
    parent = experiment.start_logging(snapshot_directory=None, outputs=False)
    child = parent.submit_child(configured(project, "pass"), tags={"n": "1"})
    child.wait_for_completion()
    assert child.parent == parent
    parent.complete()


def test_a_missing_script_is_named_with_what_is_there(experiment: Experiment, project: Path) -> None:
    with pytest.raises(ExperimentExecutionException, match=r"train\.py.*The folder is empty"):
        experiment.submit(configured(project))
    (project / "main.py").write_text("")
    (project / "data").mkdir()
    with pytest.raises(ExperimentExecutionException, match=r"holds: data/, main\.py"):
        experiment.submit(configured(project))


def test_a_script_outside_or_ignored_is_refused(experiment: Experiment, project: Path) -> None:
    (project.parent / "train.py").write_text("")
    with pytest.raises(ExperimentExecutionException, match="outside the source_directory"):
        experiment.submit(configured(project, script="../train.py"))
    (project / ".amlignore").write_text("src/\n")
    (project / "src").mkdir()
    (project / "src" / "train.py").write_text("")
    with pytest.raises(ExperimentExecutionException, match=r"leaves out 'src/'"):
        experiment.submit(configured(project, script="src/train.py"))


def test_an_absolute_path_into_the_folder_is_taken(experiment: Experiment, project: Path) -> None:
    config = configured(project, "print('here')")
    config.script = str(project / "train.py")
    assert experiment.submit(config).wait_for_completion()["runDefinition"]["script"] == "train.py"


def test_what_makes_no_sense_is_refused(experiment: Experiment, project: Path) -> None:
    text = "pass"
    with pytest.raises(UserErrorException, match="both a script"):
        experiment.submit(configured(project, text, command="echo"))
    with pytest.raises(UserErrorException, match="neither a script"):
        experiment.submit(configured(project, script=None))
    with pytest.raises(UserErrorException, match="no compute target 'gpu-cluster'"):
        experiment.submit(configured(project, text, compute_target="gpu-cluster"))
    with pytest.raises(UserErrorException, match="is no folder"):
        experiment.submit(ScriptRunConfig(str(project / "nowhere"), script="train.py"))
    with pytest.raises(UserErrorException, match="There is no Python at"):
        experiment.submit(configured(project, text, environment=managed(interpreter_path="/no/python")))
    with pytest.raises(UserErrorException, match="1 to 200"):
        experiment.submit(configured(project, text), run_id="a/b")


def test_an_environment_is_built_before_its_script_starts(
    experiment: Experiment, project: Path, server_home: Path
) -> None:
    environment = Environment("with-python")
    environment.python.conda_dependencies.set_pip_requirements(["--no-index"])
    environment.python.conda_dependencies.set_python_version("3")
    run = experiment.submit(configured(project, "import sys; print(sys.prefix)", environment=environment))
    run.wait_for_completion()
    printed = run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"].strip()
    assert Path(printed).parent == server_home / "environments"
    assert run.get_properties()["runyard.environment"] == "packages: with-python"


def test_a_pin_that_cannot_be_had_fails_the_run_before_its_script(experiment: Experiment, project: Path) -> None:
    environment = Environment("too-old")
    environment.python.conda_dependencies.set_python_version("2.5.1")
    run = experiment.submit(configured(project, "pass", environment=environment))
    with pytest.raises(ActivityFailedException, match=r"2\.5\.1"):
        run.wait_for_completion()
    assert "user_logs/std_log.txt" not in run.get_file_names()


def test_a_run_without_a_snapshot(experiment: Experiment, project: Path) -> None:
    (project / "train.py").write_text("pass")
    config = ScriptRunConfig(str(project), command="ls")
    config.run_config.history.snapshot_project = False
    run = experiment.submit(config)
    run.wait_for_completion()
    assert "ContentSnapshotId" not in run.get_properties()


def test_the_submit_of_a_config_by_itself(workspace: Workspace, experiment: Experiment, project: Path) -> None:
    from runyard.sdk.submit.script_run_config import submit

    run = submit(configured(project, "pass"), workspace, experiment.name, run_id=f"{experiment.name}-chosen")
    assert run.id == f"{experiment.name}-chosen"
    run.wait_for_completion()
    with pytest.raises(UserErrorException):
        submit(configured(project), workspace, experiment.name, run_id=run.id)


def test_a_workspace_that_was_deleted_is_not_made_again_by_a_submit(workspace: Workspace, project: Path) -> None:
    """Somebody has deleted it on purpose."""
    gone = Workspace.create("gone-for-good")
    place = Experiment(gone, "last")
    gone.delete()
    with pytest.raises(WorkspaceException, match="gone-for-good"):
        place.submit(configured(project, "print(1)"))
    assert "gone-for-good" not in Workspace.list()
