"""`runyard ls` with columns of metrics: filtered and sorted as the studio does it."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

from runyard.cli import errors
from runyard.cli.commands.views import table

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

LOGS = """
import sys
from azureml.core import Run
Run.get_context().log("acc", float(sys.argv[1]))
"""


def test_terms() -> None:
    assert doctest.testmod(table).failed == 0


def test_runs_by_a_metric(shell: Shell) -> None:
    experiment = shell.completed(LOGS, "0.5")["experiment"]
    script = shell.script(LOGS)
    shell.call("submit", "-f", script, "-e", experiment, "--tag", "t=1", "--", "0.9")
    best = shell.json("ls", "-e", experiment, "--metric", "acc", "--sort", "-acc")
    assert [run["metrics"]["acc"] for run in best] == [0.9, 0.5]
    assert len(shell.json("ls", "-e", experiment, "--filter", "metrics.acc>0.7 tag.t=1")) == 1
    plain = shell.call("ls", "-e", experiment, "-m", "acc", "--sort", "acc").stdout
    assert "acc" in plain.splitlines()[0]
    assert "0.5" in plain.splitlines()[1]
    one = shell.json("ls", "-m", "acc", "--param", "#1=0.9", "-e", experiment)
    assert [run["id"] for run in one] == [best[0]["id"]]
    unsorted = shell.call("ls", "-e", experiment, "--sort", "-acs")
    assert "None of these runs has a metric 'acs'" in unsorted.stderr
    assert "--services" in shell.refusal("ls", "-m", "acc", "--services", expect=errors.USAGE)["title"]
    refused = shell.refusal("ls", "--filter", "statu:failed", expect=errors.FAILED)
    assert refused["code"] == "bad_query"
