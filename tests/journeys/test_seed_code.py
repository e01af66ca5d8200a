"""The code of the documents that the product is made from, word for word, by a user with nothing set up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from azureml.core import Experiment, Workspace

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

SUBMIT = """
from azureml.core import Workspace, Experiment, Environment, ScriptRunConfig
project_folder = './project'
ws = Workspace.from_config()
experiment = Experiment(workspace=ws, name='my_experiment')
myenv = Environment("user-managed-env")
myenv.python.user_managed_dependencies = True
src = ScriptRunConfig(source_directory=project_folder, script='train.py',
                      arguments=['--lr', 0.1], compute_target='local', environment=myenv)
src.run_config.target = 'local'
run = experiment.submit(config=src)
run.wait_for_completion(show_output=True)
"""

TRAIN = """
import argparse, os
from azureml.core import Run

parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float)
lr = parser.parse_args().lr
run = Run.get_context()
for epoch in range(5):
    print('epoch', epoch)
    run.log('loss', 1.0 / (epoch + 1))
run.log('lr', lr)
my_metric = list(range(10))
N = 4
run.log_list("my metric name", my_metric[:N])
run.log_list("my metric name", my_metric[N:])
os.makedirs('outputs', exist_ok=True)
with open('outputs/my_output_file', 'w') as f:
    f.write('weights')
print('the last line, without an end', end='')
"""


def test_the_seed_runs_as_it_is(shared_yard: Yard, tmp_path: Path) -> None:
    (shared_yard.folder / "project").mkdir()
    (shared_yard.folder / "project" / "train.py").write_text(TRAIN)
    (shared_yard.folder / "submit.py").write_text(SUBMIT)

    said = subprocess.run([sys.executable, "submit.py"], capture_output=True, text=True, timeout=120)

    assert said.returncode == 0, said.stderr
    for expected in ("RunId: my_experiment_", "Web View: http", "Streaming user_logs/std_log.txt", "Execution Summary"):
        assert expected in said.stdout
    positions = [said.stdout.index(f"epoch {epoch}") for epoch in range(5)]
    assert positions == sorted(positions)
    assert "the last line, without an end" in said.stdout

    workspace = Workspace.from_config()
    [run] = workspace.experiments["my_experiment"].get_runs()
    assert run.get_status() == "Completed"
    assert run.get_metrics() == {
        "loss": [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5],
        "lr": 0.1,
        "my metric name": list(range(10)),
    }
    run.download_file(name="outputs/my_output_file", output_file_path=str(tmp_path / "my_destination_path"))
    assert (tmp_path / "my_destination_path").read_text() == "weights"
    assert not (shared_yard.folder / ".azureml").exists(), "a config file is written only when asked"


def test_submitting_twice_is_two_runs(shared_yard: Yard) -> None:
    first, second = (shared_yard.submit("print('hello')") for _ in range(2))
    assert first.id != second.id
    for run in (first, second):
        assert run.wait_for_completion()["status"] == "Completed"
    assert {run.id for run in shared_yard.workspace.experiments["journey"].get_runs()} == {first.id, second.id}


def test_a_command_instead_of_a_script(shared_yard: Yard) -> None:
    config = shared_yard.config("")
    config.run_config.script = None
    config.script = None
    config.command = ["echo", "from the shell:", "$AZUREML_RUN_ID", "&&", "pwd"]
    run = Experiment(shared_yard.workspace, "commands").submit(config)
    run.wait_for_completion()
    log = run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    assert f"from the shell: {run.id}" in log
    assert os.path.basename(log.strip().splitlines()[-1]) == "work"
