"""A node runner that was killed is followed by another one: nothing that was written is lost, nothing stays alive."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from runyard.node import state
from runyard.node.launch import processes
from runyard.node.rescue.rescue import end_of
from runyard.node.state import RUNNING, Launched, State
from runyard.system.processes import started

if TYPE_CHECKING:
    from tests.node.conftest import Node, Server

Prepare = Callable[..., "Node"]
Until = Callable[[Callable[[], object], str], None]

STEPS = """
import os, subprocess, sys, time
from runyard.contracts import journal
subprocess.Popen(['sleep', '600'], start_new_session=True)
with open('outputs/model', 'w') as f: f.write('half')
with open('logs/train.log', 'w') as f: f.write('epoch')
path = os.environ['RUNYARD_TELEMETRY'] + '/journal/' + journal.file_name(os.environ['AZUREML_RUN_ID'], '1')
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, 'wb', buffering=0) as f:
    step = 0
    while True:
        f.write(journal.line('v', 'loss', float(step), 1.0, step))
        print('step', step, flush=True)
        step += 1
        if step > 100: time.sleep(0.001)
"""


def test_a_runner_killed_in_the_middle(node: Prepare, until: Until) -> None:
    made = node({"train.py": STEPS})
    runner = made.start()
    made.wait_for_output("step 200")
    tree = processes.descendants([runner.pid], processes.table())
    assert len(tree) == 2
    runner.kill()
    runner.wait()
    result = made.finish("--rescue")
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "NodeRunnerLost"
    assert str(runner.pid) in result["error"]["message"]
    assert not tree & set(processes.table())
    lines = made.run.read("user_logs/std_log.txt").decode().splitlines()
    assert lines == [f"step {step}" for step in range(len(lines))]
    values = made.run.metric("loss")
    assert values == [float(step) for step in range(len(values))]
    assert len(values) - len(lines) in (0, 1)
    assert made.run.read("outputs/model") == b"half"
    assert made.run.read("logs/train.log") == b"epoch"
    assert "taking over" in made.run.read("system_logs/runner.log").decode()


def test_the_end_that_was_recorded_counts(node: Prepare, own_server: Server, until: Until) -> None:
    made = node({"train.py": "print('done')"}, server=own_server)
    own_server.kill()
    runner = made.start()
    until(
        lambda: (left := state.load(made.folder)) is not None and left.phase == "ended",
        "the end of the script",
    )
    runner.kill()
    runner.wait()
    own_server.start()
    assert made.finish("--rescue")["status"] == "Completed"
    assert made.run.read("user_logs/std_log.txt") == b"done\n"


@pytest.mark.parametrize(
    ("stop", "asked_now", "expected"),
    [
        (None, False, {}),
        (None, True, {"stopped": True}),
        ("cancelled", False, {"stopped": True}),
        ("overdue", False, {"timed_out": True}),
    ],
)
def test_a_stop_that_was_asked_for_is_reported(stop: str | None, asked_now: bool, expected: dict[str, bool]) -> None:
    former = State(RUNNING, Launched(7, "1"), "cookie", [Launched(8, "2")], stop)
    fact = end_of(former, asked_now)
    assert fact["error"]["code"] == "NodeRunnerLost"
    assert {key: fact[key] for key in ("stopped", "timed_out") if key in fact} == expected


def test_a_runner_that_died_before_it_did_anything(node: Prepare) -> None:
    made = node({"train.py": ""})
    result = made.finish("--rescue")
    assert result["error"]["code"] == "NodeRunnerLost"
    assert "had not been started" in result["error"]["message"]


def test_processes_of_another_machine_are_left_alone(node: Prepare) -> None:
    made = node({"train.py": ""})
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as stranger:
        same_id = Launched(stranger.pid, started(stranger.pid))
        State(RUNNING, same_id, "cookie", [same_id], machine="elsewhere").save(made.folder)
        assert made.finish("--rescue")["error"]["code"] == "NodeRunnerLost"
        assert stranger.poll() is None
        stranger.kill()


def test_a_rescuer_that_dies_is_followed_by_another(node: Prepare, own_server: Server) -> None:
    made = node({"train.py": STEPS}, server=own_server)
    runner = made.start()
    made.wait_for_output("step 100")
    runner.kill()
    runner.wait()
    own_server.kill()
    rescuer = made.start("--rescue")
    rescuer.send_signal(signal.SIGKILL)
    rescuer.wait()
    own_server.start()
    assert made.finish("--rescue")["error"]["code"] == "NodeRunnerLost"
    assert made.run.read("user_logs/std_log.txt").startswith(b"step 0\n")
