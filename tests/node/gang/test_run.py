"""Runs of many processes, on one node and on several: what each rank saw, wrote and logged is in the one run."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Server

Prepare = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]

ALONE = "from runyard.node.gang import link; link.WITNESS = 'hidden'"
"""Said to a follower: its disk is another one than that of node 0."""

TWO_BY_TWO = Distribution(nodes=2, processes=4)
SLEEP = "import time\nprint('ready', flush=True)\ntime.sleep(600)\n"

REPORT = """
import json, os, sys
from runyard.contracts import journal
rank = int(os.environ['RANK'])
names = ['RANK', 'LOCAL_RANK', 'NODE_RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT', 'AZUREML_RUN_ID']
print(json.dumps({name: os.environ[name] for name in names}), sys.argv[1:], flush=True)
with open(f'outputs/rank_{rank}', 'w') as f: f.write(str(rank))
with open(f'logs/rank_{rank}', 'w') as f: f.write(str(rank))
folder = os.environ['RUNYARD_TELEMETRY']
os.makedirs(folder + '/journal', exist_ok=True)
with open(folder + '/journal/' + journal.file_name(os.environ['AZUREML_RUN_ID'], f'w{rank}'), 'wb') as f:
    f.write(journal.line('v', f'loss_{rank}', float(rank), 1.0, None))
"""


MLFLOW = """
import json, os, urllib.request
address, run_id = os.environ['MLFLOW_TRACKING_URI'], os.environ['MLFLOW_RUN_ID']
headers = {'Authorization': 'Bearer ' + os.environ['MLFLOW_TRACKING_TOKEN'], 'Content-Type': 'application/json'}
metric = {'run_id': run_id, 'key': 'loss_' + os.environ['RANK'], 'value': 0.5, 'timestamp': 1, 'step': 0}
asked = urllib.request.Request(address + '/api/2.0/mlflow/runs/log-metric', json.dumps(metric).encode(), headers)
urllib.request.urlopen(asked, timeout=60).close()
"""


def test_mlflows_client_is_answered_on_every_node(gang: Prepare) -> None:
    made = gang({"train.py": MLFLOW}, Distribution(nodes=2, processes=2))
    result = made.finish()
    assert result["status"] == "Completed", result
    assert [made.run.metric(f"loss_{rank}") for rank in (0, 1)] == [[0.5], [0.5]]


@pytest.mark.parametrize("nodes", [1, 2])
def test_every_rank_has_its_place_its_log_and_its_metrics(gang: Prepare, nodes: int) -> None:
    made = gang({"train.py": REPORT}, Distribution(nodes=nodes, processes=4), arguments=["--rank", "$RANK"])
    result = made.finish()
    assert result["status"] == "Completed", result
    assert result["warnings"] == []
    meeting = set()
    for rank in range(4):
        seen, _, arguments = made.std_log(rank).partition("} ")
        known = json.loads(seen + "}")
        assert arguments == f"['--rank', '{rank}']\n"
        each = 4 // nodes
        assert (known["RANK"], known["LOCAL_RANK"]) == (str(rank), str(rank % each))
        assert (known["NODE_RANK"], known["WORLD_SIZE"]) == (str(rank // each), "4")
        meeting.add((known["MASTER_ADDR"], known["MASTER_PORT"]))
        assert made.run.read(f"outputs/rank_{rank}") == str(rank).encode()
        assert made.run.read(f"logs/rank_{rank}") == str(rank).encode()
        assert made.run.metric(f"loss_{rank}") == [float(rank)]
    assert len(meeting) == 1
    logs = {name for name in made.run.files() if name.startswith("system_logs/runner")}
    assert (
        logs == {"system_logs/runner.log", "system_logs/runner_node_1.log"} if nodes > 1 else {"system_logs/runner.log"}
    )


def test_nodes_with_disks_of_their_own_keep_their_outputs_apart(gang: Prepare) -> None:
    made = gang({"train.py": REPORT}, TWO_BY_TWO)
    result = made.finish(but={1: ALONE})
    assert result["status"] == "Completed", result
    stored = {name for name in made.run.files() if name.startswith(("outputs/", "logs/"))}
    expected = {"rank_0", "rank_1", "node_1/rank_2", "node_1/rank_3"}
    assert stored == {f"{folder}/{name}" for folder in ("outputs", "logs") for name in expected}


def test_one_process_per_node_where_no_number_is_given(gang: Prepare) -> None:
    made = gang({}, Distribution(nodes=2), command="echo node $NODE_RANK, rank ${RANK-unset}")
    assert made.finish()["status"] == "Completed"
    assert [made.std_log(rank) for rank in (0, 1)] == ["node 0, rank unset\n", "node 1, rank unset\n"]


def test_nothing_starts_before_all_nodes_are_ready(gang: Prepare, shared_server: Server, until: Until) -> None:
    run = shared_server.make_run(start=False)
    made = gang({"train.py": "print('began')"}, Distribution(nodes=3), run=run)
    made.nodes[0].start()
    made.nodes[1].start()
    until(lambda: run.get()["reason"] == "2 of 3 nodes are ready", "the progress to be reported")
    assert not made.log(0).exists()
    assert not made.log(1).exists()
    made.nodes[2].start()
    assert made.wait()["status"] == "Completed"
    assert [made.std_log(rank) for rank in range(3)] == ["began\n"] * 3


@pytest.mark.parametrize("asked", [0, 1])
def test_a_stop_asked_for_on_any_node_stops_them_all(gang: Prepare, asked: int) -> None:
    made = gang({"train.py": SLEEP}, TWO_BY_TWO)
    made.start()
    for rank in range(4):
        made.wait_for_output(rank, "ready")
    runner = made.nodes[asked].runner
    assert runner is not None
    runner.send_signal(signal.SIGTERM)
    error = made.wait()["error"]
    assert error["code"] == "Canceled"
    assert "its 4 processes on 2 nodes were ended because the run was cancelled" in error["message"]


def test_a_stop_before_all_are_there(gang: Prepare, until: Until) -> None:
    made = gang({"train.py": SLEEP}, TWO_BY_TWO)
    runner = made.nodes[0].start()
    until(lambda: (made.nodes[0].folder / "work" / "train.py").exists(), "the leader to prepare")
    runner.send_signal(signal.SIGTERM)
    error = made.nodes[0].wait()["error"]
    assert error["code"] == "Canceled"
    assert not made.nodes[1].folder.exists()


def test_a_time_limit_holds_for_all_nodes(gang: Prepare) -> None:
    error = gang({"train.py": SLEEP}, TWO_BY_TWO, max_run_duration_seconds=1).finish()["error"]
    assert error["code"] == "MaxRunDurationExceeded"


def test_parameter_servers_are_ended_when_the_workers_are_done(gang: Prepare) -> None:
    script = """
import json, os, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
print(task["type"], task["index"], flush=True)
if task["type"] == "ps":
    open(f"ps_{task['index']}", "w").close()
    time.sleep(600)
while not (os.path.exists("ps_0") and os.path.exists("ps_1")):
    time.sleep(0.01)
"""
    made = gang({"train.py": script}, Distribution("tensorflow", nodes=2, workers=2, parameter_servers=2))
    result = made.finish()
    assert result["status"] == "Completed", result
    assert [made.std_log(rank) for rank in range(4)] == ["chief 0\n", "worker 0\n", "ps 0\n", "ps 1\n"]


def test_a_script_that_is_not_there(gang: Prepare) -> None:
    error = gang({"other.py": ""}, TWO_BY_TWO).finish()["error"]
    assert error["code"] == "ScriptNotFound"


def test_a_node_that_cannot_start_its_processes_is_named(gang: Prepare) -> None:
    made = gang({"train.py": SLEEP}, TWO_BY_TWO)
    folder = made.nodes[1].folder
    plan = Plan.load(folder)
    replace(plan, launch=replace(plan.launch, interpreter="/no/such/python")).save(folder)
    error = made.finish()["error"]
    assert error["code"] == "InterpreterNotFound"
    assert error["message"].startswith("On node 1 (")
