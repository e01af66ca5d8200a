from __future__ import annotations

from pathlib import Path

import pytest

from runyard.cli.checks import store_checks
from runyard.cli.checks.check import FAIL, OK, WARN
from runyard.store.content import aside, files
from runyard.store.content.aside import Held
from runyard.store.content.objects import Objects
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


@pytest.fixture(autouse=True)
def own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("RUNYARD_SERVER", "RUNYARD_DATABASE_URL"):
        monkeypatch.delenv(variable, raising=False)


def test_files_that_were_moved_aside_are_counted(tmp_path: Path) -> None:
    assert list(store_checks.waiting(tmp_path)) == []
    objects = Objects(tmp_path / "objects")
    stored = objects.put([b"x" * 2000])
    objects.let_go([stored.digest])
    objects.set_aside(stored.digest)
    (found,) = store_checks.waiting(tmp_path)
    assert (found.verdict, "1 file that no run names, 2.0 kB" in found.message) == (OK, True)


def test_a_sweep_that_held_back_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    aside.remember(tmp_path / "objects", Held(30, 5000, 40))
    (warned,) = store_checks.waiting(tmp_path)
    assert (warned.verdict, "30 of 40 files, 5.0 kB" in warned.message) == (WARN, True)
    assert "runyard database sweep" in warned.help


def test_a_damaged_object_is_named_with_the_run_that_needs_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(connection, NewRun("r", "local", "exp"))
        stored = store.objects.put([b"weights"])
        files.put(connection, "r", "outputs/model", stored)
    store.close()
    (fine,) = store_checks.objects(tmp_path)
    assert (fine.name, fine.verdict) == ("objects", OK)
    store.objects.path(stored.digest).write_bytes(b"Weights")
    damaged, total = store_checks.objects(tmp_path)
    assert (damaged.verdict, "needed by outputs/model of run r" in damaged.message) == (FAIL, True)
    assert (total.verdict, "1 damaged or missing" in total.message) == (FAIL, True)


def test_objects_elsewhere_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (none,) = store_checks.objects(tmp_path)
    assert (none.verdict, none.message) == (OK, "there are none")
    monkeypatch.setenv("RUNYARD_SERVER", "http://elsewhere:8700")
    (warned,) = store_checks.objects(tmp_path)
    assert (warned.verdict, "where the server runs" in warned.message) == (WARN, True)
