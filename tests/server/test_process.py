from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import wait_until

from runyard.contracts.home import read_server, server_file

if TYPE_CHECKING:
    from tests.server.conftest import Start

pytestmark = pytest.mark.slow  # every test starts a server process, most of them two


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_server_leaves_its_address_and_takes_it_back(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    process = start(at=home)
    client = process.ready()
    assert client.ok("GET", "/api/server")["pid"] == process.popen.pid
    assert mode(home) == 0o700
    for name in ("token", "secret", "server.json", "server.lock"):
        assert mode(home / name) == 0o600, name
    code, said = process.end()
    assert code == 0
    assert client.url in said
    assert str(client.token) not in said
    assert "Traceback" not in said
    assert not server_file(home).exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_open_event_streams_do_not_hold_it_up(start: Start, how: signal.Signals) -> None:
    process = start()
    client = process.ready()
    run = client.make_run()
    with client.events(run["id"]) as one, client.events(run["id"]) as two:
        next(one)
        next(two)
        code, said = process.end(how)
        assert list(one) == list(two) == []
    assert code == 0
    assert "Traceback" not in said
    assert "timeout" not in said, "the streams ended because they were told to, not because they were cut off"


def test_a_second_server_says_who_has_the_home(start: Start, home: Path) -> None:
    first = start()
    client = first.ready()
    code, said = start().wait()
    assert code == 3
    assert said.startswith("runyard: ")
    for text in (str(first.popen.pid), client.url, str(home), "runyard down"):
        assert text in said
    assert client.get("/health").status == 200
    assert read_server(home) is not None


def test_a_port_in_use_is_named_with_its_holder(start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for arguments, variables in ((["--port", str(port)], {}), ([], {"RUNYARD_PORT": str(port)})):
            code, said = start(*arguments, **variables).wait()
            assert code == 4
            assert f"Port {port} on 127.0.0.1 is in use" in said
            assert "--port" in said
            assert str(os.getpid()) in said
            assert "Traceback" not in said


def test_without_a_port_asked_for_the_last_one_is_taken_again(start: Start, home: Path) -> None:
    first = start()
    url = first.ready().url
    assert first.end()[0] == 0
    with_last = start(RUNYARD_PORT="")
    assert with_last.ready().url == url
    with_last.end()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(url.rpartition(":")[2])))
        taken.listen()
        assert start(RUNYARD_PORT="").ready().url != url


def test_a_server_that_was_killed_comes_back_where_nodes_know_it(start: Start, home: Path) -> None:
    """It may be a client that starts it anew, which knows nothing of how it was started."""
    first = start("--host", "127.0.0.2")
    url = first.ready().url
    assert url.startswith("http://127.0.0.2:")
    first.popen.kill()
    first.popen.wait()
    again = start(RUNYARD_PORT="")
    assert again.ready().url == url
    again.end()
    assert start("--host", "127.0.0.1").ready().url.startswith("http://127.0.0.1:")


def test_a_door_that_was_open_needs_a_good_token_the_next_time_too(start: Start) -> None:
    first = start("--host", "0.0.0.0", RUNYARD_TOKEN="a-token-of-my-own")
    url = first.ready().url
    first.end()
    code, said = start(RUNYARD_TOKEN="1234").wait()
    assert code == 5
    assert "token_urlsafe" in said
    again = start(RUNYARD_PORT="").ready()
    assert again.url == url
    assert again.token == "a-token-of-my-own"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_let_in_only_with_a_token_of_the_operators_own(
    start: Start, tmp_path: Path, home: Path, host: str
) -> None:
    code, said = start("--host", host).wait()
    assert code == 5
    assert "RUNYARD_TOKEN" in said
    code, said = start("--host", host, RUNYARD_TOKEN="1234").wait()
    assert code == 5
    assert "token_urlsafe" in said
    assert [path.name for path in home.iterdir()] == ["sdk"], "which was there before"
    if host == "::" and not socket.has_ipv6:
        return
    file = tmp_path / "token"
    file.write_text("a-token-of-my-own\n")
    client = start("--host", "0.0.0.0", "--token-file", str(file)).ready()
    assert client.token == "a-token-of-my-own"
    assert not client.url.startswith("http://0.0.0.0")
    assert client.get("/api/server").status == 200


def test_an_address_that_is_not_of_this_machine_is_refused(start: Start) -> None:
    code, said = start("--host", "192.0.2.1", RUNYARD_TOKEN="a-token-of-my-own").wait()
    assert code == 4
    assert "192.0.2.1" in said
    code, said = start("--host", "no-such-host.invalid", RUNYARD_TOKEN="a-token-of-my-own").wait()
    assert code == 4
    assert "no-such-host.invalid" in said


def test_wrong_arguments_are_told(start: Start) -> None:
    code, said = start("--port", "many").wait()
    assert (code, "many" in said, said.startswith("runyard: ")) == (2, True, True)
    assert start("--colour", "red").wait()[0] == 2


@pytest.mark.parametrize("content", [b"this is not a database, only some text " * 100])
def test_a_damaged_database_is_named(start: Start, home: Path, content: bytes) -> None:
    (home / "runyard.db").write_bytes(content)
    code, said = start().wait()
    assert code == 6
    assert str(home / "runyard.db") in said
    assert "Traceback" not in said
    assert (home / "runyard.db").read_bytes() == content
    assert read_server(home) is None


def test_a_database_address_that_cannot_be_used_is_told_without_its_password(start: Start) -> None:
    code, said = start("--database-url", "mysql://user:hidden@host/name").wait()
    assert code == 6
    assert "hidden" not in said
    assert "Traceback" not in said
    code, said = start("--database-url", "postgresql://user:hidden@127.0.0.1:1/name").wait()
    assert code == 6
    assert "hidden" not in said
    assert "Traceback" not in said


def test_a_home_that_cannot_be_used_is_named(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "a_file"
    file.write_text("")
    for home in (file, file / "below"):
        code, said = start(at=home).wait()
        assert code == 7
        assert str(file) in said
        assert "RUNYARD_HOME" in said
        assert "Traceback" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to stand for a full disk")
def test_a_full_disk_simulated_by_dev_full_is_named(start: Start, home: Path) -> None:
    (home / "server.lock").symlink_to("/dev/full")
    code, said = start().wait()
    assert code == 7
    assert "no space left" in said
    assert str(home) in said
    assert "Traceback" not in said


def test_killed_and_started_again_it_has_everything(start: Start, home: Path) -> None:
    first = start()
    client = first.ready()
    run = client.make_run(tags={"kept": "yes"})
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/journals/w?offset=0", body=b'["v","loss",0.25,1.0,null]\n')
    client.ok("POST", f"{path}/appends/logs/a.txt?offset=0", body=b"half a log, ")
    client.ok("PUT", f"{path}/files/outputs/x", body=b"output")
    before = client.ok("GET", path)
    assert first.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert read_server(home) is not None, "a killed server leaves its address behind; the next one replaces it"

    again = start().ready()
    assert again.token == client.token
    after = again.ok("GET", path)
    assert {**after, "web_url": ""} == {**before, "web_url": ""}
    own = again.as_run(run)
    assert own.get(f"{path}/files/outputs/x").body == b"output"
    own.ok("POST", f"{path}/appends/logs/a.txt?offset=12", body=b"and the rest")
    assert own.get(f"{path}/files/logs/a.txt").body == b"half a log, and the rest"
    (metric,) = own.ok("GET", f"{path}/metrics")["metrics"][run["id"]]
    assert metric["values"] == [0.25]


def test_the_token_and_the_secret_outlive_the_server(start: Start, home: Path) -> None:
    process = start()
    process.ready()
    kept = [(home / name).read_text() for name in ("token", "secret")]
    process.end()
    start().ready()
    assert [(home / name).read_text() for name in ("token", "secret")] == kept
    assert len(kept[0].strip()) >= 32


def test_an_operators_token_is_where_clients_on_this_machine_look_for_it(start: Start, home: Path) -> None:
    client = start(RUNYARD_TOKEN="chosen-by-myself").ready()
    assert client.token == "chosen-by-myself"
    assert (home / "token").read_text().strip() == "chosen-by-myself"
    assert client.get("/api/server").status == 200


@pytest.mark.parametrize("name", ["token", "secret"])
def test_what_can_be_guessed_is_refused_on_this_machine_too(start: Start, home: Path, name: str) -> None:
    (home / name).write_text("x\n")
    code, said = start().wait()
    assert code == 5
    assert f"The {name} in {home / name} has 1 characters" in said
    assert "token_urlsafe" in said
    (home / name).unlink()
    if name == "token":
        code, said = start(RUNYARD_TOKEN="x").wait()
        assert (code, "The token has 1 characters" in said) == (5, True)


def test_the_log_never_holds_a_token_or_a_key(start: Start) -> None:
    process = start()
    client = process.ready()
    run = client.make_run()
    key = run["web_url"].partition("key=")[2]
    client.get(f"/runs/{run['id']}?key={key}")
    client.get(f"/runs/{run['id']}?key={key}x")
    client.as_run(run).get("/api/workspaces")
    _, said = process.end()
    for secret in (str(client.token), run["token"], key):
        assert secret not in said


def test_leftovers_of_another_server_are_not_removed_at_the_end(start: Start, home: Path) -> None:
    process = start()
    process.ready()
    other = {"url": "http://127.0.0.1:1", "pid": 1, "version": "0"}
    server_file(home).write_text(json.dumps(other))
    process.end()
    assert server_file(home).exists()
    shutil.rmtree(home)


def test_nothing_in_a_home_is_open_to_others_whatever_the_umask(start: Start, home: Path) -> None:
    home.chmod(0o755)
    before = os.umask(0)
    try:
        process = start()
    finally:
        os.umask(before)
    client = process.ready()
    launch = {"command": "ls -ld .. ../.."}
    asked = {"workspace": "local", "experiment": "trial", "kind": "script", "launch": launch}
    run = client.ok("POST", "/api/runs", asked)
    with client.events(run["id"]) as events:
        assert [said["status"] for name, said in events if name == "state"][-1] == "Completed"
    log = client.get(f"/api/runs/{run['id']}/files/user_logs/std_log.txt").body.decode()
    assert [line[:10] for line in log.splitlines()] == ["drwx------"] * 2, "the run's folder, and that of all runs"
    open_to_others = [path.name for path in home.iterdir() if mode(path) & 0o077]
    assert not open_to_others
    # A runner that has not heard yet that its last report arrived would wait for a server that never comes back.
    wait_until(lambda: not list((home / "runs").iterdir()))


def test_what_a_killed_node_runner_left_is_cleared_away_once_all_was_delivered(start: Start, home: Path) -> None:
    process = start()
    client = process.ready()
    delivered, guessed = client.make_run(), client.make_run()
    client.end(delivered)
    client.end(guessed, "failed", error={"code": "NodeRunnerLost", "message": "nothing was heard"})
    folders = {name: home / "runs" / name for name in (delivered["id"], guessed["id"], "of-another-database")}
    for folder in folders.values():
        (folder / "work").mkdir(parents=True)
    for name in ("plan.json", "state.json"):  # a node runner was at work there, and no other can read what it left
        (folders[guessed["id"]] / name).write_text("{")
    process.end(signal.SIGKILL)
    start().ready()
    deadline = time.monotonic() + 60
    while folders[delivered["id"]].exists() and time.monotonic() < deadline:
        time.sleep(0.05)  # it is cleared away beside the first requests
    assert not folders[delivered["id"]].exists()
    assert folders["of-another-database"].exists()
    assert (folders[guessed["id"]] / "work").exists()
