"""How the server says that it stands: a full disk must not look like a good one."""

from __future__ import annotations

import shutil
from collections import namedtuple
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Served

Disk = namedtuple("Disk", "total used free")


def test_all_is_in_order(served: Served) -> None:
    served.client.make_run()
    found = served.client.ok("GET", "/api/server/condition")
    assert found["runs"]
    assert found["live"] >= 1
    checks = {each["name"]: each for each in found["checks"]}
    assert checks["database can be used"]["ok"]
    assert checks["objects can be used"]["ok"]
    assert found["sizes"].keys() == {"runs", "models", "environments", "database"}


def test_a_disk_that_is_nearly_full(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Disk(10**12, 10**12 - 10**9, 10**9))
    (full,) = [
        each
        for each in served.client.ok("GET", "/api/server/condition")["checks"]
        if "room on the disk" in each["name"]
    ]
    assert not full["ok"]
    assert "runyard du" in full["help"]
