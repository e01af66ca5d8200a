"""Services with real processes: deployed, killed at every point, updated, rolled back, scaled, woken. Every request of
callers that never stop is counted."""

from __future__ import annotations

import http.client
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.support.services import ECHO, Deployer, call, calling
from tests.support.waiting import wait_until

from runyard.client.server_process import ensure_server
from runyard.sdk.workspace.service import find_service

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

SECOND = ECHO.replace('"first"', '"second"')
BROKEN = "def init():\n    raise ValueError('the file is not there')\n\ndef run(data):\n    return 1\n"


@pytest.fixture
def services(shared_yard: Yard) -> Iterator[Deployer]:
    ensure_server(shared_yard.home)
    deployer = Deployer(find_service(), shared_yard.folder)
    yield deployer
    deployer.remove_all()


def kill(process: psutil.Process) -> None:
    """As the kernel would, and wait until it is gone."""
    process.send_signal(signal.SIGKILL)
    psutil.wait_procs([process], 10)


def runner_of(yard: Yard, replica: dict[str, Any]) -> psutil.Process:
    [found] = yard.processes(str(yard.home / "runs" / replica["run_id"]))
    return found


def test_a_service_outlives_the_death_of_each_of_its_processes(shared_yard: Yard, services: Deployer) -> None:
    """What is lost: the requests that the killed process had begun, one for each caller at most."""
    service = services.deploy("lives")
    port, replica = service["port"], service["replicas"][0]
    with calling(service) as caller:
        # A worker: its supervisor has the socket, and starts another.
        worker = psutil.Process(call(service, {})[1]["pid"])
        kill(worker)
        caller.wait_for(20)
        wait_until(lambda: worker.pid not in {each["pid"] for each in caller.answers[-5:]}, "another worker")
        assert len(caller.failures) <= 3
        caller.failures.clear()
        # The supervisor: the node runner has the socket.
        kill(psutil.Process(services.show("lives")["replicas"][0]["pid"]))
        wait_until(lambda: services.show("lives")["replicas"][0]["restarts"] >= 1, "a restart")
        caller.wait_for(20)
        assert len(caller.failures) <= 3
        caller.failures.clear()
        # The node runner: the process goes on, and a successor finds it.
        pid = services.ready("lives", 1)[0]["pid"]
        kill(runner_of(shared_yard, replica))
        wait_until(lambda: shared_yard.processes("--rescue"), "a successor")
        caller.wait_for(20)
        assert services.ready("lives", 1)[0]["pid"] == pid
        # The server: nobody who calls the service knows of it.
        shared_yard.kill_server()
        caller.wait_for(20)
        ensure_server(shared_yard.home)
        assert not caller.failures
        after = services.show("lives")
        assert (after["state"], after["port"]) == ("Healthy", port)
        assert [each["run_id"] for each in after["replicas"]] == [replica["run_id"]]
        # All of it at once, as when the machine is switched off: it comes back with the server.
        shared_yard.kill_server()
        for process in shared_yard.processes():
            process.kill()
        caller.stop()
        ensure_server(shared_yard.home)
        wait_until(lambda: services.show("lives")["state"] == "Healthy" and call_again(service), "its return")
        assert services.show("lives")["port"] == port


def call_again(service: dict[str, Any]) -> bool:
    try:
        return call(service, {})[0] == 200
    except OSError:
        return False


def test_an_update_under_load_fails_no_request(services: Deployer) -> None:
    service = services.deploy("changes", settings={"replicas": 2})
    with calling(service, body={"sleep": 0.01}) as caller:
        updated = services.update("changes", SECOND)
        assert (updated["revision"], updated["state"], updated["port"]) == (2, "Healthy", service["port"])
        services.ready("changes", 2)
        caller.answers.clear()
        caller.wait_for(20)
        assert caller.marks == {"second"}
        # One that does not come up: the old one goes on, and the cause is told.
        failed = services.update("changes", BROKEN)
        assert failed["operation"]["state"] == "Failed"
        assert "the file is not there" in failed["operation"]["error"]["message"]
        assert (failed["revision"], failed["state"]) == (2, "Healthy")
        # Back to the first.
        services.client.post(f"{services.base}/changes/rollback")
        assert services.settled("changes")["revision"] == 1
        services.ready("changes", 2)
        caller.answers.clear()
        caller.wait_for(20)
        assert caller.marks == {"first"}
    assert not caller.failures
    assert [each["state"] for each in services.show("changes")["revisions"]] == ["Failed", "Superseded", "Current"]


def test_replicas_come_and_go_without_a_failed_request(services: Deployer) -> None:
    service = services.deploy("scales", settings={"drain_seconds": 5})
    with calling(service, body={"sleep": 0.005}) as caller:
        services.client.post(f"{services.base}/scales/scale", {"replicas": 3})
        pids = {each["pid"] for each in services.ready("scales", 3)}
        assert len(pids) == 3
        wait_until(lambda: len({each["pid"] for each in caller.answers}) == 3, "answers of all three")
        services.client.post(f"{services.base}/scales/scale", {"replicas": 1})
        services.ready("scales", 1)
        caller.wait_for(20)
    assert not caller.failures


def test_a_service_grows_with_its_load_and_shrinks_to_nothing(services: Deployer) -> None:
    """The first request after that wakes it, and waits instead of failing."""
    scale = {"enabled": True, "min": 0, "max": 2, "down_seconds": 2.0, "refresh_seconds": 0.3}
    settings = {"autoscale": scale, "authentication": "none", "queue_wait_ms": 20_000}
    service = services.deploy("sleeps", kind="aks", settings=settings)
    services.ready("sleeps", 1, "gateway")
    with calling(service, threads=4, body={"sleep": 0.2}) as caller:
        services.ready("sleeps", 2)
        caller.wait_for(5)
    assert not caller.failures
    services.ready("sleeps", 0)
    assert services.show("sleeps")["state"] == "Healthy"
    status, answer = call(service, {})
    assert (status, answer["mark"]) == (200, "first")


def test_an_endpoint_shares_requests_out_between_its_versions(services: Deployer) -> None:
    endpoint = services.deploy(
        "splits", kind="endpoint", version_name="blue", traffic_percentile=20, settings={"authentication": "none"}
    )
    launch = services.launch(SECOND)
    services.client.post(f"{services.base}/splits/versions/green", {"launch": launch, "traffic_percentile": 50})
    services.settled("splits")
    with calling(endpoint) as caller:
        caller.answers.clear()
        caller.wait_for(200)
        shares = [each["version"] for each in caller.answers]
        assert 0.3 < shares.count("green") / len(shares) < 0.7
        assert {(each["version"], each["mark"]) for each in caller.answers} == {("blue", "first"), ("green", "second")}
        services.client.patch(f"{services.base}/splits/versions/green", {"is_default": True, "traffic_percentile": 0})
        services.client.delete(f"{services.base}/splits/versions/blue")
        wait_until(lambda: versions_of(services.show("splits")) == {"green"}, "the end of blue")
        caller.answers.clear()
        caller.wait_for(20)
        assert caller.marks == {"second"}
    assert not caller.failures


def versions_of(service: dict[str, Any]) -> set[str]:
    """The versions that have a replica."""
    return {each["version_name"] for each in service["replicas"] if each["role"] == "worker"}


def test_keys_and_tokens_are_asked_for_and_can_be_replaced_one_by_one(services: Deployer) -> None:
    service = services.deploy("locked", settings={"authentication": "key"})
    keys = services.client.get(f"{services.base}/locked/keys")
    tried = ("", "wrong", keys["primary"], keys["secondary"])
    assert [call(service, {}, key)[0] for key in tried] == [401, 401, 200, 200]
    with calling(service, key=keys["secondary"]) as caller:
        new = services.client.post(f"{services.base}/locked/keys", {"key": "Primary"})
        assert new["secondary"] == keys["secondary"]
        wait_until(lambda: call(service, {}, keys["primary"])[0] != 200, "the end of the old key")
        assert call(service, {}, new["primary"])[0] == 200
    assert not caller.failures
    signed = services.deploy("signed", kind="aks", settings={"authentication": "token", "replicas": 1})
    token = services.client.post(f"{services.base}/signed/token")
    assert call(signed, {}, token["token"])[0] == 200
    assert call(signed, {}, token["token"][:-2])[0] != 200
    folder = f"{os.environ['RUNYARD_HOME']}/services/{service['id']}"
    for file in Path(folder).iterdir():
        assert not file.is_file() or keys["secondary"] not in file.read_text()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (BROKEN, "the file is not there"),
        ("import xgboost_of_another_world\ndef init(): pass\ndef run(data): return 1\n", "add_pip_package"),
        ("def init(:\n    pass\n", "SyntaxError"),
        ("def init():\n    pass\n", "run"),
        ("import os\ndef init():\n    os._exit(9)\ndef run(data): return 1\n", "exit"),
    ],
    ids=["init raises", "a package is missing", "a syntax error", "no run", "it ends itself"],
)
def test_a_service_that_cannot_start_says_why(services: Deployer, script: str, told: str) -> None:
    service = services.deploy("cannot", script)
    assert (service["state"], service["operation"]["state"]) == ("Failed", "Failed")
    error = service["error"]
    assert told in f"{error['message']} {error.get('help')} {error.get('traceback')}"
    assert told.partition("_")[0] in services.logs("cannot") + str(error.get("help"))
    mended = services.deploy("cannot", overwrite=True)
    assert mended["state"] == "Healthy"


def test_a_call_that_kills_its_process_harms_no_other_service(services: Deployer) -> None:
    fragile, other = services.deploy("fragile"), services.deploy("steady")
    with calling(other) as caller:
        for _ in range(3):
            with pytest.raises((ConnectionError, http.client.HTTPException)):
                call(fragile, {"die": True})
            wait_until(lambda: call_again(fragile), "its return")
        assert services.show("fragile")["state"] in ("Healthy", "Unhealthy")
        caller.wait_for(10)
    assert not caller.failures
    wait_until(lambda: services.show("fragile")["replicas"][0]["restarts"] >= 3, "restarts that are counted")
