"""If these fail, a run over many nodes cannot begin, or a run that loses its nodes is lost with them."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.support.waiting import wait_until

from runyard.client.http import Locator
from runyard.contracts.delivery import Delivery, LogPart, Part
from runyard.contracts.plan import Plan
from runyard.node.delivery.reporter import Reporter
from runyard.node.delivery.retrying_client import RetryingClient

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served, Start

DEADLINE = 120.0

AGAIN = """
echo attempt $AZUREML_RUN_RESTART_COUNT; mkdir -p outputs logs; echo x >> outputs/seen; echo y > logs/own.txt
if [ -e {flag} ]; then exit 0; fi
touch {flag}; sleep 600
"""
"""Waits to be ended the first time, and completes the second time."""


def reach(client: Client, run_id: str, *statuses: str) -> Any:
    def reached() -> Any:
        run = client.ok("GET", f"/api/runs/{run_id}")
        assert run["status"] in statuses or run["status"] not in ("Completed", "Failed", "Canceled"), run
        return run if run["status"] in statuses else None

    return wait_until(reached, f"{run_id} to come to {statuses}")


def submit(client: Client, command: str, target: str = "local", nodes: int = 1, **launch: Any) -> Any:
    body = {"command": command, "distribution": {"nodes": nodes}, **launch}
    asked = {"workspace": "local", "experiment": "trial", "target": target, "launch": body}
    return client.ok("POST", "/api/runs", asked)


def submit_and_preempt(client: Client, flag: Path, **launch: Any) -> Any:
    """A run that is preempted once its script has touched `flag`."""
    run = submit(client, AGAIN.format(flag=flag), **launch)
    wait_until(flag.exists, "the script to start")
    reach(client, run["id"], "Running")
    client.as_run(run).ok("POST", f"/api/runs/{run['id']}/preempt")
    return run


def make_target(client: Client, name: str = "gpu-cluster", **fields: Any) -> None:
    client.ok("POST", "/api/workspaces/local/compute", {"name": name, "max_nodes": 2, "idle_seconds": 0, **fields})


def test_the_nodes_of_a_run_meet_through_the_server(served_on_sqlite: Served) -> None:
    client = served_on_sqlite.client
    run = served_on_sqlite.stored_run(launch={"command": "true", "distribution": {"nodes": 2}})
    assert (run["nodes"], run["attempt"]) == (2, 1)
    node, path = client.as_run(run), f"/api/runs/{run['id']}/meeting"
    assert node.ok("GET", f"{path}?attempt=1") == {"address": None}
    node.ok("PUT", path, {"attempt": 1, "address": "10.1.2.3:4000"})
    assert node.ok("GET", f"{path}?attempt=1") == {"address": "10.1.2.3:4000"}
    for attempt in (1, 2):
        answer = client.call("PUT", path, {"attempt": attempt, "address": "nowhere"})
        assert (answer.status, answer.code) == (400, "bad_request")
    late = client.call("PUT", path, {"attempt": 2, "address": "10.1.2.3:4000"})
    assert (late.status, late.code) == (409, "run_not_under_way")
    other = served_on_sqlite.stored_run(launch={"command": "true"})
    assert client.as_run(other).get(f"{path}?attempt=1").code == "not_allowed"


def test_a_run_that_no_target_can_ever_hold_is_refused(served_on_sqlite: Served) -> None:
    client = served_on_sqlite.client
    make_target(client)
    for target, nodes in (("gpu-cluster", 3), ("local", 1000)):
        asked = {
            "workspace": "local",
            "experiment": "trial",
            "target": target,
            "launch": {"command": "true", "distribution": {"nodes": nodes}},
        }
        refused = client.call("POST", "/api/runs", asked)
        assert (refused.status, refused.code) == (422, "too_many_nodes")
        assert str(nodes) in refused.json["title"]
        assert str(refused.json["detail"]["most_nodes"]) in refused.json["title"]
        assert "--max-nodes" in refused.json["help"]
    assert client.ok("GET", "/api/runs")["runs"] == []


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        ({"nodes": 0}, "node_count"),
        ({"kind": "carrier pigeon"}, "carrier pigeon"),
        ({"kind": "pytorch", "backend": "smoke"}, "smoke"),
        ({"kind": "mpi", "nodes": 2, "processes": 3}, "spread evenly"),
        ({"kind": "tensorflow", "nodes": 2, "workers": 3}, "one worker per node"),
    ],
)
def test_a_distribution_that_cannot_be_run_is_refused_with_its_words(
    served_on_sqlite: Served, distribution: Any, words: str
) -> None:
    asked = {"workspace": "local", "experiment": "trial", "launch": {"command": "true", "distribution": distribution}}
    refused = served_on_sqlite.client.call("POST", "/api/runs", asked)
    assert (refused.status, refused.code) == (422, "invalid_run")
    assert words in refused.json["title"]


def test_a_launch_of_another_form_is_refused(served_on_sqlite: Served) -> None:
    for launch in ({"distribution": {"nodes": "many"}}, {"distribution": {"cats": 2}}, {"restarts": 101}):
        asked = {"workspace": "local", "experiment": "trial", "launch": {"command": "true", **launch}}
        assert served_on_sqlite.client.call("POST", "/api/runs", asked).code == "bad_request", launch


def test_a_target_of_another_workspace_is_unknown(served_on_sqlite: Served) -> None:
    client = served_on_sqlite.client
    make_target(client)
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "g"})
    asked = {"workspace": "other", "experiment": "e", "target": "gpu-cluster", "launch": {"command": "true"}}
    refused = client.call("POST", "/api/runs", asked)
    assert (refused.status, refused.code, refused.json["detail"]) == (422, "unknown_target", {"targets": ["local"]})


def test_a_waiting_run_says_at_every_moment_what_it_waits_for_and_the_target_how_it_stands(
    served_on_sqlite: Served, tmp_path: Path
) -> None:
    client, go = served_on_sqlite.client, tmp_path / "go"
    make_target(client)
    wait_for_it = f"while [ ! -e {go} ]; do sleep 0.1; done"
    first, second = submit(client, wait_for_it, "gpu-cluster"), submit(client, wait_for_it, "gpu-cluster")
    third = submit(client, "true", "gpu-cluster", nodes=2)
    for run in (first, second):
        reach(client, run["id"], "Running")
    waiting = reach(client, third["id"], "Queued")
    assert waiting["reason"].startswith("waits for 2 of 2 nodes of gpu-cluster; held by ")
    assert first["id"] in waiting["reason"]
    target = client.ok("GET", "/api/workspaces/local/compute/gpu-cluster")
    assert (target["status"]["current_nodes"], target["status"]["counts"]["running"]) == (2, 2)
    client.ok("POST", f"/api/runs/{second['id']}/cancel")
    reach(client, second["id"], "Canceled")
    waiting = client.ok("GET", f"/api/runs/{third['id']}")
    assert waiting["reason"] == f"waits for 2 of 2 nodes of gpu-cluster; run {first['id']} holds 1"
    client.ok("POST", f"/api/runs/{third['id']}/cancel")
    go.touch()
    reach(client, first["id"], "Completed")
    wait_until(
        lambda: client.ok("GET", "/api/workspaces/local/compute/gpu-cluster")["status"]["current_nodes"] == 0,
        "the nodes to go",
    )


def test_a_preempted_run_starts_again_and_every_attempt_is_in_its_history(
    served_on_sqlite: Served, tmp_path: Path
) -> None:
    client, flag = served_on_sqlite.client, tmp_path / "flag"
    run = submit_and_preempt(client, flag)
    path = f"/api/runs/{run['id']}"
    done = reach(client, run["id"], "Completed")
    assert done["attempt"] == 2
    statuses = [state["status"] for state in done["states"]]
    assert statuses.count("Running") >= 2
    assert "preempted on purpose; attempt 2 follows" in [state["reason"] for state in done["states"]]
    names = {file["name"] for file in client.ok("GET", f"{path}/files")["files"]}
    assert {
        "user_logs/attempt_1/std_log.txt",
        "user_logs/std_log.txt",
        "system_logs/attempt_1/runner.log",
        "system_logs/runner.log",
        "logs/attempt_1/own.txt",
        "logs/own.txt",
        "outputs/seen",
    } <= names
    for name in ("user_logs/attempt_1/std_log.txt", "user_logs/std_log.txt"):
        assert b"attempt" in client.get(f"{path}/files/{name}").body
    refused = client.call("POST", f"{path}/preempt")
    assert (refused.status, refused.code) == (409, "run_not_under_way")


def test_what_a_former_attempt_delivers_late_is_kept_and_does_not_mix_with_the_next(
    served_on_sqlite: Served, tmp_path: Path
) -> None:
    """A node that was cut off until another attempt was under way."""
    client, flag = served_on_sqlite.client, tmp_path / "flag"
    run = submit_and_preempt(client, flag)
    path = f"/api/runs/{run['id']}"
    reach(client, run["id"], "Completed")
    before = {name: client.get(f"{path}/files/{name}").body for name in ("user_logs/std_log.txt", "outputs/seen")}
    late = RetryingClient(run["id"], Locator(served_on_sqlite.settings.url, run["token"]), tmp_path, attempt=1)
    known = len(client.get(f"{path}/files/user_logs/attempt_1/std_log.txt").body)
    parts: list[Part] = [
        LogPart("user_logs/std_log.txt", known, b"cut off\n"),
        LogPart("user_logs/std_log_process_1.txt", 0, b"of node 1\n"),
    ]
    assert Reporter(late).deliver(Delivery(parts=parts)).parts == [known + 8, 10]
    digest = hashlib.sha256(b"stale").hexdigest()
    assert late.link({"outputs/seen": digest}) == {"outputs/seen"}
    late.put("outputs/seen", b"stale", 5, digest)
    assert late.link({"outputs/other": digest}) == set()
    for name, content in before.items():
        assert client.get(f"{path}/files/{name}").body == content
    assert client.get(f"{path}/files/user_logs/attempt_1/std_log.txt").body.endswith(b"\ncut off\n")
    assert client.get(f"{path}/files/user_logs/attempt_1/std_log_process_1.txt").body == b"of node 1\n"
    for name in ("seen", "other"):
        assert client.get(f"{path}/files/attempt_1/outputs/{name}").body == b"stale"
    now = RetryingClient(run["id"], Locator(served_on_sqlite.settings.url, run["token"]), tmp_path, attempt=2)
    now.put("outputs/seen", b"stale", 5, digest)
    assert client.get(f"{path}/files/outputs/seen").body == b"stale"


def test_a_node_of_a_former_attempt_that_is_back_ends_its_script_and_delivers(
    served_on_sqlite: Served, tmp_path: Path
) -> None:
    client, home = served_on_sqlite.client, served_on_sqlite.settings.home
    run = submit(
        client, 'echo begun; [ -z "$CUT_OFF" ] || echo is back; [ $AZUREML_RUN_RESTART_COUNT = 1 ] || sleep 600'
    )
    reach(client, run["id"], "Running")
    elsewhere = tmp_path / "elsewhere"  # stands for the disk of a node that is cut off when the run starts again
    (elsewhere / "streams").mkdir(parents=True)
    for name in ("plan.json", "manifest"):
        if (home / "runs" / run["id"] / name).exists():
            shutil.copy(home / "runs" / run["id"] / name, elsewhere)
    client.ok("POST", f"/api/runs/{run['id']}/preempt")
    reach(client, run["id"], "Completed")
    code = [sys.executable, "-I", "-S", str(Path(Plan.load(elsewhere).sdk) / "runyard" / "node"), str(elsewhere)]
    back = subprocess.run(code, env={**os.environ, "CUT_OFF": "1"}, timeout=DEADLINE, stdout=subprocess.PIPE)
    assert back.returncode == 0
    assert b"another attempt of this run is under way" in back.stdout
    assert not elsewhere.exists()
    done = client.ok("GET", f"/api/runs/{run['id']}")
    assert (done["status"], done["attempt"]) == ("Completed", 2)
    log = client.get(f"/api/runs/{run['id']}/files/user_logs/attempt_1/std_log.txt").body
    assert log == b"begun\nis back\n"
    assert client.get(f"/api/runs/{run['id']}/files/user_logs/std_log.txt").body == b"begun\n"


def test_a_run_that_may_not_start_again_fails_when_it_is_preempted(served_on_sqlite: Served, tmp_path: Path) -> None:
    client, flag = served_on_sqlite.client, tmp_path / "flag"
    run = submit_and_preempt(client, flag, restarts=0)
    failed = reach(client, run["id"], "Failed")
    assert failed["error"]["code"] == "RestartsExhausted"


def test_a_run_that_its_maker_leads_cannot_be_preempted(served_on_sqlite: Served) -> None:
    run = served_on_sqlite.client.make_run()
    refused = served_on_sqlite.client.call("POST", f"/api/runs/{run['id']}/preempt")
    assert (refused.status, refused.code) == (409, "run_not_under_way")


def test_a_lost_node_runner_of_low_priority_is_replaced(served_on_sqlite: Served, tmp_path: Path) -> None:
    client, flag = served_on_sqlite.client, tmp_path / "flag"
    make_target(client, vm_priority="lowpriority")
    run = submit(client, AGAIN.format(flag=flag), "gpu-cluster")
    wait_until(flag.exists, "the script to start")
    reach(client, run["id"], "Running")
    os.kill(_runner_of(served_on_sqlite.settings.home, run["id"]), signal.SIGKILL)
    done = reach(client, run["id"], "Completed")
    assert done["attempt"] == 2


def test_a_restart_survives_the_death_of_the_server_at_any_point(start: Start, tmp_path: Path, home: Path) -> None:
    server, flag = start(), tmp_path / "flag"
    client = server.ready()
    run = submit_and_preempt(client, flag)
    server.end(signal.SIGKILL)
    client = start().ready()
    done = reach(client, run["id"], "Completed")
    assert done["attempt"] == 2
    wait_until(lambda: not list((home / "runs").glob("*")), "the folders of the run to go")


def _runner_of(home: Path, run_id: str) -> int:
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if str(home / "runs" / run_id) in words:
            return process.pid
    raise AssertionError(f"no node runner of {run_id}")
