from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


LOG = "user_logs/std_log.txt"


def verdicts(report: list[dict[str, Any]]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report}


def test_a_new_machine_is_well(fresh_shell: Shell) -> None:
    report = fresh_shell.json("doctor")
    assert verdicts(report)["home"] == "ok"
    assert verdicts(report)["server"] == "ok"
    (own,) = (check["message"] for check in report if check["name"] == "Runyard")
    assert "-m pip install --upgrade --editable" in own, "the tests run in a clone"
    assert not fresh_shell.home.exists(), "looking must not change anything"


def test_a_machine_with_a_server_is_well(shell: Shell) -> None:
    shell.json("up")
    told = verdicts(shell.json("doctor"))
    assert told["server"] == told["home"] == told["token"] == told["database"] == told["engine local"] == "ok"
    assert "ok    server: version" in shell.call("doctor").stdout


def test_a_token_that_others_can_read_fails(fresh_shell: Shell) -> None:
    fresh_shell.home.mkdir(parents=True, mode=0o700)
    token = fresh_shell.home / "token"
    token.write_text("x")
    token.chmod(0o644)
    done = fresh_shell.call("doctor", expect=errors.FAILED)
    assert f"chmod 600 {token}" in done.stdout


def test_a_damaged_database_fails(fresh_shell: Shell) -> None:
    fresh_shell.home.mkdir(parents=True, mode=0o700)
    (fresh_shell.home / "runyard.db").write_text("this is no database")
    assert verdicts(fresh_shell.json("doctor", expect=errors.FAILED))["database"] == "fail"


def test_an_open_home_and_a_dead_server_are_warned_of(fresh_shell: Shell) -> None:
    fresh_shell.home.mkdir(parents=True)
    fresh_shell.home.chmod(0o755)
    (fresh_shell.home / "server.json").write_text('{"url": "http://127.0.0.1:1", "pid": 4194999, "version": "0"}')
    told = verdicts(fresh_shell.json("doctor"))
    assert told["home"] == "warn"
    assert told["server"] == "warn"


def test_what_runs_have_left_is_found(fresh_shell: Shell) -> None:
    fresh_shell.json("up")
    folder = fresh_shell.home / "runs" / "gone_1763235000_1a2b3c4d"
    folder.mkdir(parents=True)
    (folder / "big").write_bytes(b"x" * 5000)
    uploads = fresh_shell.home / "objects" / "incoming"
    uploads.mkdir(parents=True, exist_ok=True)
    (uploads / "half").write_bytes(b"x" * 3000)
    journals = fresh_shell.home / "telemetry" / "old" / "journal"
    journals.mkdir(parents=True)
    (journals / "run@1.jsonl").write_bytes(b"x" * 100)
    (journals / "run@1.ack").write_text("40")
    for path in (folder, uploads / "half"):
        os.utime(path, (time.time() - 7200,) * 2)
    report = {check["name"]: check for check in fresh_shell.json("doctor")}
    found = [report[name]["verdict"] for name in ("unknown run folders", "objects", "telemetry")]
    assert found == ["warn", "warn", "warn"]
    assert "5.0 kB of 1 run (gone_1763235000_1a2b3c4d)" in report["unknown run folders"]["message"]
    assert "another database" in report["unknown run folders"]["help"]
    assert "3.0 kB" in report["objects"]["message"]
    assert "60 B" in report["telemetry"]["message"]


def test_what_waits_for_a_server_is_said_while_there_is_none(fresh_shell: Shell) -> None:
    folder = fresh_shell.home / "runs" / "mine_1763235000_1a2b3c4d@1"
    folder.mkdir(parents=True)
    (folder / "log").write_bytes(b"x" * 2000)
    report = {check["name"]: check for check in fresh_shell.json("doctor")}
    assert "2.0 kB of 1 run (mine_1763235000_1a2b3c4d)" in report["run folders"]["message"]
    assert "runyard up" in report["run folders"]["help"]


def test_a_deep_look_finds_files_that_are_not_whole_any_more(fresh_shell: Shell) -> None:
    shell = fresh_shell
    run_id = shell.completed("open('outputs/model', 'w').write('weights' * 100); print('log')")["id"]
    (objects,) = [check for check in shell.json("doctor", "--deep") if check["name"] == "objects"]
    assert objects["verdict"] == "ok"
    assert "objects" not in verdicts(shell.json("doctor")), "only when it is asked for: it reads everything"
    files = {file["name"]: file["hash"] for file in shell.json("files", run_id)}
    model, log = (shell.home / "objects" / files[name][:2] / files[name][2:] for name in ("outputs/model", LOG))
    model.write_bytes(b"W" + model.read_bytes()[1:])
    log.unlink()
    report = shell.json("doctor", "--deep", expect=errors.FAILED)
    assert verdicts(report)["objects"] == "fail"
    told = [check["message"] for check in report if check["name"] == "object"]
    assert len(told) == 2
    assert f"outputs/model of run {run_id}" in told[0]
    assert "not those that its name says" in told[0]
    assert f"{LOG} of run {run_id}" in told[1]
    assert "is not there" in told[1]
    assert not log.exists(), "looking must not change anything"
