"""Nothing that was logged waits for ever: what a dead shipper left is taken up by the next client."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
import uuid
from pathlib import Path

import pytest

from runyard.client.server_process import ensure_server, stop_server
from runyard.contracts import home as homes
from runyard.node.delivery.wake import Wake
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.telemetry import telemetry
from runyard.sdk.telemetry.telemetry import Telemetry
from runyard.sdk.workspace.workspace import Workspace
from runyard.system import processes


def wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_shippers() -> None:
    for shipper in telemetry._shippers:
        shipper.send_signal(signal.SIGKILL)
        shipper.wait()


def test_a_folder_without_a_shipper_gets_one(own_home: Path) -> None:
    workspace = Workspace.from_config()
    run = Experiment(workspace, "exp").start_logging(snapshot_directory=None, outputs=False)
    kill_shippers()
    for number in range(10):
        run.log("n", number)
    assert not run._deliver(0.2)
    assert telemetry.adopt(own_home) == 1
    run.flush()
    assert Run.get(workspace, run.id).get_metrics() == {"n": list(range(10))}
    assert telemetry.adopt(own_home) == 0
    run.complete()
    wait_for(lambda: not list((own_home / "telemetry").iterdir()))


def test_a_server_that_is_away_stops_nobody(own_home: Path) -> None:
    workspace = Workspace.from_config()
    run = Experiment(workspace, "exp").start_logging(snapshot_directory=None, outputs=False)
    assert stop_server(own_home)
    run.log("n", 1)
    run.tag("k", "v")
    run.upload_file("a.txt", __file__)
    ensure_server(own_home)
    run.complete()
    assert run.get_metrics() == {"n": 1}
    assert run.get_tags() == {"k": "v"}
    assert run.get_file_names() == ["a.txt"]


def test_what_another_process_wrote_is_waited_for(own_home: Path) -> None:
    run = Experiment(Workspace.from_config(), "exp").start_logging(snapshot_directory=None, outputs=False)
    kill_shippers()
    assert run._own_telemetry is not None
    started_by_this_one = Telemetry(run._own_telemetry.folder)
    started_by_this_one.journal(run.id).tags({"who": "a process that was forked"})
    assert not run._deliver(0.2)
    with started_by_this_one.journal(run.id).files[0].open("ab") as torn:
        torn.write(b'["v","half')
    telemetry.adopt(own_home)
    assert run._deliver()
    assert run.get_tags() == {"who": "a process that was forked"}
    run.complete()


def test_reading_starts_a_server_that_died(own_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Experiment(Workspace.from_config(), "exp").start_logging(snapshot_directory=None, outputs=False)
    assert stop_server(own_home)
    run.log("n", 1)
    assert run.get_metrics() == {"n": 1}
    assert "not yet confirmed" not in caplog.text
    run.complete()


def test_waiting_survives_the_death_of_the_server(own_home: Path) -> None:
    from runyard.sdk.submit.script_run_config import ScriptRunConfig

    Path("train.py").write_text("import os, time\nprint('a', flush=True)\ntime.sleep(2)\nprint('b')")
    workspace = Workspace.from_config()
    run = Experiment(workspace, "exp").submit(ScriptRunConfig(".", script="train.py"))
    wait_for(lambda: run.get_status() == "Running")
    running = homes.read_server(own_home)
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    wait_for(lambda: not processes.alive(running.pid))
    assert run.wait_for_completion()["status"] == "Completed"
    assert run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"] == "a\nb\n"


def test_the_order_to_the_shipper_is_for_the_user_alone(workspace: Workspace, experiment: Experiment) -> None:
    run = experiment.start_logging(snapshot_directory=None, outputs=False)
    assert run._own_telemetry is not None
    file = run._own_telemetry.folder / "ship.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    order = json.loads(file.read_text())
    assert order["token"].startswith(f"run.{run.id}.")
    assert order["lead"] is True
    assert processes.alive(order["owner_pid"], order["owner_started"])
    run.complete()


def test_a_file_that_cannot_be_spooled_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = Telemetry(tmp_path)
    with pytest.raises(FileNotFoundError):
        folder.store_file("run", "a", tmp_path / uuid.uuid4().hex)
    assert list((tmp_path / "spool").iterdir()) == []
    assert not (tmp_path / "journal").exists()


def test_a_shipper_that_was_killed_is_replaced_by_whoever_waits_for_it(own_home: Path) -> None:
    run = Experiment(Workspace.from_config(), "exp").start_logging(snapshot_directory=None, outputs=False)
    run.log("n", 1)
    kill_shippers()
    assert run.get_metrics() == {"n": 1}
    kill_shippers()
    run.log("m", 2)
    run.complete()
    assert run.get_status() == "Completed"
    assert run.get_metrics() == {"n": 1, "m": 2}


def test_whoever_delivers_is_asked_to_hurry(tmp_path: Path) -> None:
    telemetry = Telemetry(tmp_path)
    telemetry.hurry()  # nobody is there
    assert list(tmp_path.iterdir()) == []
    wake = Wake()
    wake.listen(tmp_path)
    wake.clear()
    telemetry.hurry()
    assert wake.clear()
    wake.close()
    telemetry.hurry()  # it has gone again


def test_a_flush_that_has_nothing_to_wait_for_disturbs_nobody(tmp_path: Path) -> None:
    telemetry, wake = Telemetry(tmp_path), Wake()
    wake.listen(tmp_path)
    wake.clear()
    assert telemetry.flush("run-1", 0.0)
    assert not wake.clear()
    telemetry.journal("run-1").write(b"[]\n")
    assert not telemetry.flush("run-1", 0.0)
    assert wake.clear()
    wake.close()
