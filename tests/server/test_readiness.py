"""A server that cannot work says so, and which part of it cannot."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.server.conftest import serve

from runyard.server import readiness
from runyard.server.settings import Settings
from runyard.store.database import Database

if TYPE_CHECKING:
    from tests.server.conftest import Served


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
        for _ in range(20):  # the server may give some space back while it finds out that there is none
            with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
                while file.write(bytes(1 << 12)):
                    pass
            answer = served.client.get("/ready")
            if answer.status == 503 and "ok" not in answer.json["detail"].values():
                break
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
