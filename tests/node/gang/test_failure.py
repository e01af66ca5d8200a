"""What becomes of a run when a rank, a node or node 0 itself dies: everything ends, and the error names the first."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.node.conftest import SOURCES

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Node, Server

Prepare = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]

TWO_BY_TWO = Distribution(nodes=2, processes=4)
HOST = os.uname().nodename

SLEEP = """
import os, time
rank = int(os.environ['RANK'])
print('ready', rank, flush=True)
with open(f'outputs/rank_{rank}', 'w') as f: f.write('half')
"""
WAIT = SLEEP + "time.sleep(600)\n"
QUICKLY = (
    "from runyard.node.gang import link; link.SILENCE = 6.0; "
    "from runyard.node.rescue import rescue; rescue.ALIVE_FOR = 2.0"
)


def started(gang: Prepare, *, but: dict[int, str] | None = None) -> Gang:
    """A run whose four ranks are all at work."""
    made = gang({"train.py": WAIT}, TWO_BY_TWO)
    made.start(but)
    for rank in range(4):
        made.wait_for_output(rank, "ready")
    return made


def runner(node: Node) -> Any:
    assert node.runner is not None
    return node.runner


def test_the_rank_that_failed_is_named_with_its_exception(gang: Prepare) -> None:
    script = SLEEP + "if rank == 3: raise ValueError('no such column')\ntime.sleep(600)\n"
    made = gang({"train.py": script}, TWO_BY_TWO)
    result = made.finish()
    assert result["status"] == "Failed"
    error = result["error"]
    assert error["message"] == f"Rank 3 on node 1 ({HOST}) failed with exit code 1: ValueError: no such column"
    assert (error["rank"], error["node"], error["code"]) == (3, 1, "UserError")
    assert error["exception"]["frames"][0]["file"] == "train.py"
    assert "no such column" in made.std_log(3)
    assert made.std_log(0) == "ready 0\n"


def test_a_rank_that_was_killed_is_named_with_its_signal_and_last_lines(gang: Prepare) -> None:
    script = SLEEP + "if rank == 1: os.kill(os.getpid(), 9)\ntime.sleep(600)\n"
    error = gang({"train.py": script}, TWO_BY_TWO).finish()["error"]
    assert error["message"].startswith(f"Rank 1 on node 0 ({HOST}) was killed by SIGKILL (signal 9).")
    assert "ready 1" in error["message"]
    assert error["exit"]["signal"] == 9


def test_the_first_to_fail_counts_even_when_others_fail_because_of_it(gang: Prepare) -> None:
    script = """
import os, sys, time
rank = int(os.environ['RANK'])
place = os.path.join('outputs', 'failed')
if rank == 2:
    open(place, 'w').close()
    sys.exit(7)
while not os.path.exists(place): time.sleep(0.01)
time.sleep(0.5)
sys.exit(9)
"""
    error = gang({"train.py": script}, TWO_BY_TWO).finish()["error"]
    assert (error["rank"], error["exit"]["code"]) == (2, 7)


def test_a_node_whose_runner_is_killed_is_lost_and_its_logs_are_not(gang: Prepare) -> None:
    made = started(gang)
    runner(made.nodes[1]).kill()
    runner(made.nodes[1]).wait()
    error = made.nodes[0].wait()["error"]
    assert error["code"] == "NodeLost"
    assert error["message"].startswith(f"Node 1 ({HOST}) was lost: the connection to it ")
    assert error["node"] == 1
    assert error["help"]
    assert [made.std_log(rank) for rank in range(4)] == [f"ready {rank}\n" for rank in range(4)]
    assert not made.nodes[1].folder.exists()
    assert made.nodes[1].processes() == []
    assert "runner_node_1.log" in str(made.run.files())


def test_a_node_that_says_nothing_any_more_is_lost(gang: Prepare) -> None:
    made = started(gang, but={0: QUICKLY})
    runner(made.nodes[1]).send_signal(signal.SIGSTOP)
    error = made.nodes[0].wait()["error"]
    assert error["code"] == "NodeLost"
    assert error["message"] == f"Node 1 ({HOST}) was lost: nothing was heard from it for 6 s."
    assert made.std_log(2) == "ready 2\n"
    assert runner(made.nodes[1]).wait(60) == -signal.SIGKILL
    assert made.nodes[1].processes() == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_followers_without_a_leader_end_deliver_and_go(gang: Prepare, how: signal.Signals) -> None:
    made = started(gang, but={1: QUICKLY})
    runner(made.nodes[0]).send_signal(how)
    assert runner(made.nodes[1]).wait(60) == 0
    assert not made.nodes[1].folder.exists()
    assert made.std_log(2) == "ready 2\n"
    assert made.run.get()["status"] == "Running"
    runner(made.nodes[0]).kill()
    runner(made.nodes[0]).wait()
    error = made.nodes[0].finish("--rescue")["error"]
    assert error["code"] == "NodeRunnerLost"
    assert made.std_log(0) == "ready 0\n"
    assert {f"outputs/rank_{rank}" for rank in range(4)} < set(made.run.files())


def test_a_rescue_of_node_0_delivers_for_all_nodes(gang: Prepare) -> None:
    made = started(gang)
    for node in made.nodes:
        runner(node).send_signal(signal.SIGSTOP)
    for node in made.nodes:
        runner(node).kill()
        runner(node).wait()
    made.nodes[0].finish("--rescue")
    assert [made.std_log(rank) for rank in range(4)] == [f"ready {rank}\n" for rank in range(4)]
    assert not made.nodes[1].folder.exists()


def test_a_rescue_of_one_node_does_not_report_the_end(gang: Prepare) -> None:
    made = started(gang)
    for node in made.nodes:
        runner(node).send_signal(signal.SIGSTOP)
    runner(made.nodes[1]).kill()
    runner(made.nodes[1]).wait()
    assert made.nodes[1].finish("--rescue")["status"] == "Running"
    assert made.std_log(3) == "ready 3\n"
    runner(made.nodes[0]).kill()
    runner(made.nodes[0]).wait()
    assert made.nodes[0].finish("--rescue")["status"] == "Failed"


def test_nodes_that_never_come_are_named(gang: Prepare) -> None:
    made = gang({"train.py": WAIT}, Distribution(nodes=4))
    but = "from runyard.node.gang import leader; leader.HERE_WITHIN = 2.0"
    made.nodes[0].start(but=but)
    error = made.nodes[0].wait()["error"]
    assert error["code"] == "GangIncomplete"
    assert error["message"] == "3 of 4 nodes did not report to node 0 within 2 s: nodes 1, 2, 3."
    assert error["help"]


def test_who_does_not_know_the_secret_is_not_let_in(gang: Prepare) -> None:
    made = gang({"train.py": WAIT}, Distribution(nodes=2))
    folder = made.nodes[1].folder
    replace(Plan.load(folder), link="another").save(folder)
    made.nodes[1].start(but="from runyard.node.gang import publish; publish.FIND_WITHIN = 600.0")
    made.nodes[0].start(but="from runyard.node.gang import leader; leader.HERE_WITHIN = 5.0; " + QUICKLY)
    assert made.nodes[0].wait()["error"]["code"] == "GangIncomplete"
    assert "does not know the secret of the run" in made.run.read("system_logs/runner.log").decode()
    runner(made.nodes[1]).wait(60)


@pytest.mark.parametrize("distribution", [Distribution(), Distribution(nodes=2, processes=2)])
def test_a_run_outlives_the_code_that_it_was_started_from(
    gang: Prepare, shared_server: Server, tmp_path: Path, until: Until, distribution: Distribution
) -> None:
    """As when Runyard is upgraded meanwhile: the end of the run is reported as if nothing had happened."""
    sources = tmp_path / "sdk"
    shutil.copytree(SOURCES / "runyard", sources / "runyard", ignore=shutil.ignore_patterns("__pycache__"))
    script = """
import os, sys, time
open(os.path.join(sys.argv[1], 'began_' + os.environ.get('RANK', '0')), 'w').close()
while not os.path.exists(os.path.join(sys.argv[1], 'go')): time.sleep(0.01)
if os.environ.get('RANK', '1') == '1': raise ValueError('no such column')
time.sleep(600)
"""
    run = shared_server.make_run(start=False)
    made = gang({"train.py": script}, distribution, run=run, arguments=[str(tmp_path)])
    for node in made.nodes:
        node.sources = sources
    made.start()
    ranks = range(distribution.nodes)
    until(lambda: all((tmp_path / f"began_{rank}").exists() for rank in ranks), "the script")
    until(lambda: run.get()["status"] == "Running", "the start to be reported")
    shutil.rmtree(sources)
    (tmp_path / "go").touch()
    error = made.wait()["error"]
    assert error["code"] == "UserError"
    assert "ValueError: no such column" in error["message"]
