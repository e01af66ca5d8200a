"""`runyard rerun`: the same source once more, with the change that was asked for and no other."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_run_is_repeated_with_another_argument(shell: Shell) -> None:
    first = shell.completed("import sys; print(sys.argv[1:])", "--lr", "0.1")["id"]
    again = shell.json("rerun", first, "--set", "lr=0.5", "--name", "again")
    shell.call("logs", "-f", again["id"])
    assert "['--lr', '0.5']" in shell.call("logs", again["id"]).stdout
    made = shell.json("show", again["id"])
    assert (made["snapshot_id"], made["display_name"]) == (shell.json("show", first)["snapshot_id"], "again")
    assert made["properties"]["runyard.rerun-of"] == first
    repeated = shell.json("rerun", again["id"])["id"]
    shell.call("logs", "-f", repeated)
    assert "alike" in shell.call("diff", again["id"], repeated).stdout
    command = shell.json("submit", "--command", "echo hello", "--source", str(shell.folder))["id"]
    assert "shell command" in shell.refusal("rerun", command, "--set", "a=1", expect=errors.USAGE)["title"]


def test_a_run_that_was_led_by_a_process_cannot_be_repeated(shell: Shell) -> None:
    led = "from azureml.core import Experiment, Workspace\n" + (
        "run = Experiment(Workspace.from_config(), 'led').start_logging(snapshot_directory=None)\n"
        "run.complete(); print(run.id)\n"
    )
    environment = shell.environment()
    done = subprocess.run([sys.executable, "-c", led], env=environment, capture_output=True, text=True, check=True)
    run_id = done.stdout.split()[-1]
    assert "a process of yours" in shell.refusal("rerun", run_id, expect=errors.USAGE)["title"]
