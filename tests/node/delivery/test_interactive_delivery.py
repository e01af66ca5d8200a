"""An interactive run is delivered by a process of its own, which outlives the one that writes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.bad_json import every_bad_text
from tests.support.delivery_server import DeliveryServer

from runyard.contracts import journal as contract
from runyard.node.delivery.interactive_delivery import main
from runyard.sdk.telemetry.telemetry import Telemetry
from runyard.system.processes import started

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer, Server

Order = Callable[..., None]
Until = Callable[[Callable[[], object], str], None]
Deliver = Callable[[], "subprocess.Popen[bytes]"]

DELIVERY = [sys.executable, "-m", "runyard.node.delivery.interactive_delivery"]


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def deliver(telemetry: Path) -> Iterator[Deliver]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([*DELIVERY, str(telemetry)]))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def write(telemetry: Path, run_id: str, *records: tuple[Any, ...]) -> None:
    with open(telemetry / "journal" / contract.file_name(run_id, "1"), "ab") as file:
        file.write(b"".join(contract.line(*record) for record in records))


def loss(number: float) -> tuple[Any, ...]:
    return (contract.VALUE, "loss", number, 1.0, None)


def test_until_the_owner_completes_the_run(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    order(run, owner.pid, owner_started=started(owner.pid))
    write(telemetry, run.id, loss(1))
    delivery = deliver()
    until(lambda: run.metric("loss") == [1], "the first value")
    write(telemetry, run.id, loss(2), (contract.END, "completed", None))
    assert delivery.wait(60) == 0
    assert not telemetry.exists()
    assert run.metric("loss") == [1, 2]
    assert run.get()["status"] == "Completed"


def test_the_end_of_a_run_that_nobody_watches_is_not_delayed(
    telemetry: Path, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    server = DeliveryServer()
    server.pace, server.held = 600.0, 600.0
    order = {"run_id": "run-1", "token": "t", "server_url": server.locator.url, "owner_pid": owner.pid, "lead": True}
    (telemetry / "ship.json").write_text(json.dumps(order))
    sdk = Telemetry(telemetry)
    sdk.journal("run-1").write(contract.line(*loss(1)))
    delivery = deliver()
    try:
        until(lambda: server.holds, "the first delivery")
        sdk.journal("run-1").end("completed", None)
        sdk.hurry()
        assert delivery.wait(60) == 0
    finally:
        server.close()
    assert [fact["outcome"] for fact in server.facts] == ["completed"]
    assert not telemetry.exists()


def test_the_error_of_a_run_that_failed(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver
) -> None:
    order(run, owner.pid)
    write(telemetry, run.id, (contract.END, "failed", {"code": "UserError", "message": "no"}))
    assert deliver().wait(60) == 0
    result = run.get()
    assert result["status"] == "Failed"
    assert result["error"] == {"code": "UserError", "message": "no"}


def test_an_owner_that_was_killed(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    order(run, owner.pid, owner_started=started(owner.pid))
    delivery = deliver()
    write(telemetry, run.id, *[loss(number) for number in range(1000)])
    owner.kill()
    owner.wait()
    assert delivery.wait(60) == 0
    result = run.get()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "OwnerLost"
    assert f"(pid {owner.pid}) ended without completing it" in result["error"]["message"]
    assert "run.complete()" in result["error"]["help"]
    assert run.metric("loss") == list(range(1000))


def test_a_process_id_that_was_given_to_somebody_else(
    run: RunOnServer, telemetry: Path, order: Order, deliver: Deliver
) -> None:
    order(run, os.getpid(), owner_started="1")
    assert deliver().wait(60) == 0
    assert run.get()["error"]["code"] == "OwnerLost"


def test_one_that_does_not_lead_ends_when_its_folder_is_removed(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    order(run, owner.pid, lead=False)
    delivery = deliver()
    write(telemetry, run.id, loss(1))
    until(lambda: run.metric("loss") == [1], "the journal to be delivered")
    shutil.rmtree(telemetry)
    assert delivery.wait(60) == 0
    assert owner.poll() is None


def test_one_that_does_not_lead_leaves_the_state_alone(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver
) -> None:
    order(run, owner.pid, lead=False)
    write(telemetry, run.id, loss(1))
    owner.kill()
    owner.wait()
    assert deliver().wait(60) == 0
    assert not telemetry.exists()
    assert run.metric("loss") == [1]
    assert run.get()["status"] == "Running"


def test_files_and_folders(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, tmp_path: Path
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "outputs").mkdir()
    (tmp_path / "user_log.txt").write_text("teed")
    (tmp_path / "logs" / "a").write_text("log")
    (tmp_path / "outputs" / "m").write_text("model")
    folders = {"logs": str(tmp_path / "logs"), "outputs": str(tmp_path / "outputs")}
    order(run, owner.pid, files={"logs/user_log.txt": str(tmp_path / "user_log.txt")}, folders=folders)
    write(telemetry, run.id, (contract.END, "completed", None))
    assert deliver().wait(60) == 0
    assert {name: run.read(name) for name in run.files()} == {
        "logs/user_log.txt": b"teed",
        "logs/a": b"log",
        "outputs/m": b"model",
    }
    assert (tmp_path / "outputs" / "m").exists(), "the user's own folders stay"


def test_child_runs_end_when_they_say_so(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    child = run.server.make_run(kind="child", parent_id=run.id)
    order(run, owner.pid)
    write(telemetry, child.id, loss(1), (contract.END, "completed", None))
    deliver()
    until(lambda: child.get()["status"] == "Completed", "the child's end")
    assert run.get()["status"] == "Running"


def test_a_shipper_that_was_killed_is_followed_by_another(
    run: RunOnServer,
    telemetry: Path,
    order: Order,
    owner: subprocess.Popen[bytes],
    deliver: Deliver,
    until: Until,
    tmp_path: Path,
) -> None:
    log = tmp_path / "user_log.txt"
    log.write_text("first ")
    order(run, owner.pid, files={"logs/user_log.txt": str(log)})
    write(telemetry, run.id, loss(1))
    first = deliver()
    until(lambda: run.files().get("logs/user_log.txt") == 6, "the log")
    first.send_signal(signal.SIGKILL)
    first.wait()
    with open(log, "a") as file:
        file.write("second")
    write(telemetry, run.id, loss(2), (contract.END, "completed", None))
    assert deliver().wait(60) == 0
    assert run.metric("loss") == [1, 2]
    assert run.read("logs/user_log.txt") == b"first second"
    assert run.get()["status"] == "Completed"


def test_two_at_once_share_nothing(
    run: RunOnServer, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver, until: Until
) -> None:
    order(run, owner.pid)
    write(telemetry, run.id, loss(1))
    deliver()
    until(lambda: run.metric("loss") == [1], "the first value")
    assert deliver().wait(60) == 0
    assert telemetry.exists()


def test_a_server_that_is_away(
    own_server: Server, telemetry: Path, order: Order, owner: subprocess.Popen[bytes], deliver: Deliver
) -> None:
    run = own_server.make_run()
    order(run, owner.pid)
    own_server.kill()
    write(telemetry, run.id, *[loss(number) for number in range(500)], (contract.END, "completed", None))
    owner.kill()
    owner.wait()
    delivery = deliver()
    own_server.start()
    assert delivery.wait(60) == 0
    assert run.metric("loss") == list(range(500))
    assert run.get()["status"] == "Completed"


@pytest.mark.parametrize("arguments", [[], ["/no/such/folder", "x"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    result = subprocess.run(
        [*DELIVERY, *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert result.returncode == 2
    assert "usage" in result.stderr


def test_a_folder_that_is_no_telemetry_folder(tmp_path: Path) -> None:
    result = subprocess.run(
        [*DELIVERY, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert result.returncode == 2
    assert "ship.json" in result.stderr


@every_bad_text
def test_an_order_that_cannot_be_read_is_told_and_nothing_is_lost(
    telemetry: Path, text: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    write(telemetry, "run-1", loss(1))
    (telemetry / "ship.json").write_bytes(text)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        assert main([str(telemetry)]) == 2
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert "cannot be delivered" in capsys.readouterr().err
    assert any((telemetry / "journal").iterdir())
