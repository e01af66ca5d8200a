"""A sweep from the command line: started, looked at, folded in lists, extended, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runyard.cli import errors
from runyard.cli.commands.assets.sweep import in_order
from runyard.cli.output.summary import sweep_counts

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

TRAIN = """
import sys
from azureml.core import Run
Run.get_context().log('score', float(sys.argv[sys.argv.index('--x') + 1]))
"""


def test_a_sweep_is_followed_shown_and_extended(shell: Shell) -> None:
    (shell.folder / "train.py").write_text(TRAIN)
    said = shell.call(
        *("sweep", "train.py", "--param", "x=choice(2.9, 3, 2.8)", "--metric", "score", "--max", "--runs", "2"),
        *("--at-once", "2", "--sampling", "grid", "--policy", "bandit", "--follow", "-e", "sweeping", "--", "--fixed"),
    ).stdout
    run = said.split()[1]
    assert "Scheduled a job" in said
    assert f"best {run}_1  3" in said
    for more in ((), ("--metric", "score"), ("--filter", "status:completed")):
        (listed,) = shell.call("ls", "-e", "sweeping", *more).stdout.splitlines()[1:]
        assert "sweep, 2 of 2: 2 completed, best 3" in listed
    assert "maximize score: 2 of 2: 2 completed" in shell.call("show", run).stdout
    assert "_aml_system_" not in shell.call("show", run).stdout
    assert run in shell.call("sweep", "ls").stdout
    assert [each["best"] for each in shell.json("sweep", "show", run)["trials"]] == [2.9, 3.0]
    assert "x=3" in shell.call("sweep", "show", run).stdout
    assert shell.json("sweep", "best", run)["parameters"] == {"x": 3}
    assert shell.json("show", f"{run}_1")["launch"]["arguments"] == ["--fixed", "--x", "3"]
    assert shell.json("show", run[:12])["id"] == run
    assert shell.json("sweep", "extend", run, "--runs", "1")["id"] == run
    shell.call("sweep", "stop", run)
    assert len(shell.json("sweep", "show", run)["trials"]) <= 3


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("train.py", "--metric", "m"), "--param"),
        (("train.py", "--param", "x=choice(1)"), "--metric"),
        (("train.py", "--param", "x", "--metric", "m"), "NAME=EXPRESSION"),
        (("train.py", "-p", "x=choice(1)", "-p", "x=choice(2)", "--metric", "m"), "'x' is given twice"),
        (("train.py", "--param", "x=__import__('os').system('true')", "--metric", "m"), "NAME=EXPRESSION"),
        (("train.py", "--param", "x=choice(1", "--metric", "m"), "NAME=EXPRESSION"),
    ],
)
def test_wrong_calls(shell: Shell, words: tuple[str, ...], named: str) -> None:
    (shell.folder / "train.py").write_text("")
    refusal = shell.refusal("sweep", *words, expect=errors.USAGE)
    assert named in refusal["title"]


def test_bad_sweeps_and_runs_that_are_none(shell: Shell) -> None:
    (shell.folder / "train.py").write_text("")
    for words in (("x=uniform(1,0)",), ("x=magic(1)",), ("x=uniform(0,1)", "--sampling", "grid")):
        shell.refusal("sweep", "train.py", "--metric", "m", "--param", *words, expect=errors.FAILED)
    assert shell.refusal("sweep", "best", "no-such-run", expect=errors.NOT_FOUND)["title"]


def test_how_children_are_counted_and_ordered() -> None:
    kinds = [
        ("Running", None),
        ("Queued", None),
        ("Canceled", "why"),
        ("Canceled", None),
        ("Failed", None),
        (None, None),
    ]
    trials = [
        {"number": number, "status": status, "verdict": verdict, "best": None if number % 2 else number}
        for number, (status, verdict) in enumerate(kinds)
    ]
    standing = {"runs": 9, "goal": "minimize", "trials": trials}
    assert sweep_counts(standing) == ("6 of 9: 1 running, 1 waiting, 1 stopped early, 1 canceled, 1 failed, 1 deleted")
    assert [each["number"] for each in in_order(standing)] == [0, 2, 4, 1, 3, 5]
    assert [each["number"] for each in in_order({**standing, "goal": "maximize"})] == [4, 2, 0, 1, 3, 5]
