"""If these fail, what one of the processes of a run has printed cannot be found."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.main import app

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

SCRIPT = """
import os
print("hello from", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
print("second line", end="")
"""
WORLD = 4


def lines_of(rank: int) -> list[str]:
    return [f"hello from {rank} of {WORLD}", "second line"]


@pytest.fixture
def cluster(shell: Shell) -> Iterator[str]:
    name = f"cluster-{uuid.uuid4().hex[:8]}"
    shell.call("compute", "create", name, "--max-nodes", "2", "--idle-seconds", "0")
    yield name
    shell.call("compute", "rm", name)


def events(text: str, kind: str) -> list[Any]:
    return [event for event in map(json.loads, text.splitlines()) if event["event"] == kind]


def test_every_rank_has_a_log(shell: Shell, cluster: str) -> None:
    spread = ["--nodes", "2", "--procs", "2", "--compute", cluster, "--restarts", "1"]
    followed = shell.call("submit", shell.script(SCRIPT), *spread, "-f")
    assert followed.stdout.count("hello from") == 1
    assert f"rank 0 of {WORLD}" in followed.stderr
    run = shell.json("show", "@last")
    assert (run["nodes"], run["attempt"], run["target"]) == (2, 1, cluster)
    assert run["launch"]["restarts"] == 1

    done = shell.call("logs", run["id"])
    assert done.stdout.splitlines() == lines_of(0)
    assert f"runyard logs {run['id']} --rank all" in done.stderr
    for rank in range(WORLD):
        done = shell.call("logs", run["id"], "--rank", str(rank))
        assert (done.stdout.splitlines(), done.stderr) == (lines_of(rank), "")
    told = shell.json("logs", run["id"], "--rank", "3")
    assert told["file"] == "user_logs/std_log_process_3.txt"

    expected = sorted(f"[{rank}] {line}" for rank in range(WORLD) for line in lines_of(rank))
    for words in (["--rank", "all"], ["--rank", "ALL", "-f"]):
        assert sorted(shell.call("logs", run["id"], *words).stdout.splitlines()) == expected
    ranks = shell.json("logs", run["id"], "--rank", "all")["ranks"]
    assert [(each["rank"], each["text"].splitlines()) for each in ranks] == [(n, lines_of(n)) for n in range(WORLD)]
    pieces = events(shell.call("logs", "-f", run["id"], "--rank", "all", "--json").stdout, "log")
    texts = ["".join(each["text"] for each in pieces if each["rank"] == rank).splitlines() for rank in range(WORLD)]
    assert texts == [lines_of(rank) for rank in range(WORLD)]

    error = shell.refusal("logs", run["id"], "--rank", "4", expect=errors.NOT_FOUND)
    assert (error["code"], "ranks 0 to 3" in error["title"]) == ("rank_not_found", True)
    shown = shell.call("show", run["id"]).stdout
    assert f"{cluster}, 2 nodes" in shown
    assert "4 ranks, 2 on each node" in shown


def test_a_run_of_one_process_has_rank_0_only(shell: Shell) -> None:
    run = shell.completed("print('alone')")
    for words in ([], ["--rank", "0"], ["--rank", "all"]):
        done = shell.call("logs", run["id"], *words)
        assert (done.stdout, done.stderr) == ("alone\n", "")
    assert "one process" in shell.refusal("logs", run["id"], "--rank", "1", expect=errors.NOT_FOUND)["title"]


@pytest.mark.parametrize("words", [["--rank", "-1"], ["--rank", "first"], ["--rank", "1", "--file", "logs/a.txt"]])
def test_wrong_calls(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["logs", "@last", *words]).exit_code == errors.USAGE


LOGS_METRICS = """
import os
from azureml.core import Run
rank = int(os.environ["RANK"])
for step in range(3):
    Run.get_context().log("loss", rank * 10 + step, step=step)
print("rank", rank, "is done")
"""


def test_what_ranks_log_under_one_name_can_be_told_apart(shell: Shell) -> None:
    followed = shell.call("submit", shell.script(LOGS_METRICS), "--procs", "2", "-f", "--rank", "all")
    assert {"[0] rank 0 is done", "[1] rank 1 is done"} <= set(followed.stdout.splitlines())
    run_id = shell.json("show", "@last")["id"]

    together = shell.call("metrics", run_id)
    assert together.stdout.splitlines()[1].split() == ["loss", "values", "6", *together.stdout.split()[-3:]]
    assert f"runyard metrics {run_id} --rank all" in together.stderr
    apart = [line.split() for line in shell.call("metrics", run_id, "--rank", "all").stdout.splitlines()]
    assert sorted(apart[1:]) == [
        ["loss", "0", "values", "3", "2", "0", "2"],
        ["loss", "1", "values", "3", "12", "10", "12"],
    ]
    points = shell.call("metrics", run_id, "loss", "--rank", "1").stdout.splitlines()[1:]
    assert [line.split()[-1] for line in points] == ["10", "11", "12"]
    assert "Rank 0" in shell.call("metrics", run_id, "loss", "--rank", "all").stdout
    (loss,) = shell.json("metrics", run_id, "loss", "--rank", "0")
    assert (loss["values"], loss["ranks"]) == ([0, 1, 2], [0])
    error = shell.refusal("metrics", run_id, "--rank", "7", expect=errors.NOT_FOUND)
    assert error["code"] == "rank_not_found"
    assert "0-1" in error["title"]


def test_a_rank_to_follow_is_checked_before_the_run_is_submitted() -> None:
    done = CliRunner().invoke(app, ["submit", "train.py", "--procs", "2", "-f", "--rank", "2"])
    assert done.exit_code == errors.USAGE
    assert "0 to 1" in done.output
    assert CliRunner().invoke(app, ["submit", "train.py", "--rank", "0"]).exit_code == errors.USAGE
