"""If these fail, the password in an address that a user has handed over can be read in a log, a page or an answer."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

ADDRESSES = (
    "https://me:hunter2@host/data",
    "https://me:p@hunter2@host/data",
    "https://store.blob.core.windows.net/c/f?sv=2020&sig=hunter2%3D&se=1",
    "https://s3.amazonaws.com/b/k?X-Amz-Date=1&X-Amz-Signature=hunter2",
    "https://conda.anaconda.org/t/hunter2/channel",
    "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=hunter2==",
)


def ended(client: Client, **launch: Any) -> Any:
    asked = {"workspace": "local", "experiment": "trial", "launch": {"interpreter": sys.executable, **launch}}
    run_id = client.ok("POST", "/api/runs", asked)["id"]
    deadline = time.monotonic() + 240
    while (run := client.ok("GET", f"/api/runs/{run_id}"))["status"] not in ("Completed", "Failed"):
        assert time.monotonic() < deadline, run
        time.sleep(0.1)
    return run


def test_addresses_in_a_command_reach_the_script_and_nobody_else(client: Client) -> None:
    count = f"import sys; sys.exit(' '.join(sys.argv).count('hunt' + 'er2') - {len(ADDRESSES)})"
    words = " ".join(f"'{each}'" for each in ADDRESSES)
    run = ended(client, command=f'{sys.executable} -c "{count}" {words}')
    assert run["status"] == "Completed", run["error"]
    link = urlsplit(run["web_url"])
    log = client.get(f"/api/runs/{run['id']}/files/system_logs/runner.log").body
    assert b"started process" in log
    page = client.get(f"{link.path}?{link.query}").body
    assert run["id"].encode() in page
    for shown in (json.dumps(run).encode(), log, page):
        assert b"hunter2" not in shown


def test_what_is_told_of_a_failure_holds_no_credentials(client: Client) -> None:
    run = client.make_run()
    frames = [{"file": "a.py", "line": 1, "function": "f", "text": f"get({ADDRESSES[0]!r})"}]
    error = {
        "code": "UserError",
        "message": f"no answer from {ADDRESSES[0]}",
        "exception": {"type": "E", "message": ADDRESSES[2], "frames": frames},
    }
    warnings = [{"code": "x", "message": ADDRESSES[3]}]
    client.end(run, "failed", error=error, warnings=warnings, reason=f"because of {ADDRESSES[0]}")
    with client.events(run["id"]) as events:
        told = list(events)  # the run is over, and so is the stream
    known = client.ok("GET", f"/api/runs/{run['id']}")
    assert "no answer from https://***@host/data" in json.dumps(known)
    assert "hunter2" not in json.dumps([known, told])


def test_a_request_made_of_credentials_is_refused(served_on_sqlite: Served) -> None:
    """Each of them would become a file."""
    client, home = served_on_sqlite.client, served_on_sqlite.settings.home
    many = " ".join(f"a://b:{number}@c" for number in range(7_000))
    asked = {"workspace": "local", "experiment": "trial", "launch": {"command": many}}
    answer = client.call("POST", "/api/runs", asked)
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "256" in answer.json["title"]
    assert client.make_run(launch={"command": "a://b:1@c " * 5_000})["id"]
    assert len(list((home / "secrets").iterdir())) <= 256
