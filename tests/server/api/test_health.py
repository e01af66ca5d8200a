from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.server.conftest import serve

from runyard import __version__
from runyard.server import readiness
from runyard.server.settings import Settings
from runyard.store.database import Database

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_health_and_readiness_are_open(client: Client) -> None:
    stranger = replace(client, token=None)
    assert stranger.get("/health").json == {"status": "ok"}
    assert stranger.get("/ready").json == {"status": "ready", "database": "ok", "objects": "ok"}


def test_a_server_whose_objects_are_gone_is_not_ready(served: Served) -> None:
    shutil.rmtree(served.settings.home / "objects")
    answer = served.client.get("/ready")
    assert (answer.status, answer.code) == (503, "not_ready")
    assert answer.json["detail"] == {"database": "ok", "objects": "not writable"}
    assert served.client.get("/health").status == 200


def test_a_server_on_a_full_disk_is_not_ready(disk_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "GOOD_FOR", 0.0)
    disk = disk_of("8m")
    with serve(Settings(home=disk / "home", token=secrets.token_hex(8), secret="s3cret")) as served:
        assert served.client.get("/ready").status == 200
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        answer = served.client.get("/ready")
        assert (answer.status, answer.code) == (503, "not_ready")
        assert answer.json["detail"] == {"database": "disk_full", "objects": "disk_full"}
        assert served.client.get("/health").status == 200
        filler.unlink()
        assert served.client.get("/ready").status == 200
        assert list((disk / "home" / "objects" / "incoming").iterdir()) == []


def test_a_server_whose_database_was_overwritten_is_not_ready(served_on_sqlite: Served) -> None:
    with (served_on_sqlite.settings.home / "runyard.db").open("r+b") as file:
        file.write(b"no database " * 5000)
    answer = served_on_sqlite.client.get("/ready")
    assert (answer.status, answer.code) == (503, "not_ready")
    assert answer.json["detail"] == {"database": "database_damaged", "objects": "ok"}


def test_a_server_whose_database_was_taken_away_is_not_ready(served_on_sqlite: Served) -> None:
    """What it writes would go to a file that nobody finds again."""
    file = served_on_sqlite.settings.home / "runyard.db"
    file.rename(file.with_name("moved.db"))
    answer = served_on_sqlite.client.get("/ready")
    assert (answer.status, answer.code) == (503, "not_ready")
    assert answer.json["detail"] == {"database": "not_ready", "objects": "ok"}
    file.with_name("moved.db").rename(file)


def test_many_who_ask_at_once_make_one_look(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    check = Database.check

    def counted(database: Database) -> None:
        looks.append(1)
        check(database)

    monkeypatch.setattr(Database, "check", counted)
    monkeypatch.setattr(readiness, "GOOD_FOR", 3600.0)
    assert [served.client.get("/ready").status for _ in range(10)] == [200] * 10
    assert len(looks) == 1


def test_the_server_tells_who_it_is(served: Served) -> None:
    told = served.client.ok("GET", "/api/server")
    assert (told["version"], told["protocol"], told["pid"]) == (__version__, 1, os.getpid())
    assert told["home"] == str(served.settings.home)
    assert told["database"] == ("sqlite" if "sqlite" in str(served.settings.database_url) else "postgresql")
    assert told["started_at"].endswith("Z")


def test_prometheus_gets_requests_by_route_and_runs_by_status(client: Client) -> None:
    run = client.make_run()
    client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/x", body=b"12345")
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=b'["v","a",1,0.0,null]\n')
    client.get("/api/nothing/at/all")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    created = {"method": "POST", "route": "/api/runs", "status": "201"}
    assert found["runyard_requests_total", tuple(sorted(created.items()))] == 1
    assert found["runyard_runs", (("status", "Running"),)] == 1
    assert found["runyard_stored_bytes_total", ()] == 5 + len(b'["v","a",1,0.0,null]\n')
    assert found["runyard_journal_records_total", ()] == 1
    timed = {"method": "POST", "route": "/api/runs"}
    assert found["runyard_request_seconds_count", tuple(sorted(timed.items()))] == 1
    assert run["id"] not in answer.body.decode()
    assert 'route="other",status="404"' in answer.body.decode()


def test_invented_methods_are_counted_as_one(client: Client) -> None:
    for method in ("PROPFIND", "MKCOL", "LOCK"):  # the parser refuses those that nobody has ever heard of
        assert replace(client, token=None).call(method, "/health").status == 405
    text = client.get("/metrics").body.decode()
    assert "PROPFIND" not in text
    assert 'method="other"' in text


def test_a_browser_that_comes_to_the_address_is_told_what_this_is(client: Client) -> None:
    answer = replace(client, token=None).get("/")
    assert answer.status == 200
    assert b"<pre>runyard show @last</pre>" in answer.body
    assert "default-src 'none'" in answer.headers["content-security-policy"]
