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
