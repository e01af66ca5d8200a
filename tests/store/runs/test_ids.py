"""If these fail, a token or a link of a deleted run leads to another run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from runyard.contracts import states
from runyard.store import tables
from runyard.store.content import deletion
from runyard.store.errors import Conflict, Refused
from runyard.store.runs import ids
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def test_an_id_can_be_used_once(store: Store, make_run: MakeRun) -> None:
    with store.database.read() as connection:
        ids.check(connection, "r")
    make_run("r", status=states.COMPLETED)
    with store.database.read() as connection, pytest.raises(Conflict) as taken:
        ids.check(connection, "r")
    assert taken.value.code == "run_exists"
    deletion.delete_runs(store, ["r"])
    with store.database.read() as connection, pytest.raises(Conflict) as deleted:
        ids.check(connection, "r")
    assert deleted.value.code == "run_deleted"


def test_a_name_that_no_run_may_have_is_refused(store: Store) -> None:
    with store.database.read() as connection, pytest.raises(Refused) as refused:
        ids.check(connection, "../up")
    assert refused.value.code == "bad_name"


def test_a_retired_id_is_stored_as_a_fingerprint_only(store: Store, make_run: MakeRun) -> None:
    make_run("secret-project_1", status=states.COMPLETED)
    deletion.delete_runs(store, ["secret-project_1"])
    with store.database.read() as connection:
        hashes = [bytes(each) for each in connection.scalars(select(tables.deleted_runs.c.id_hash))]
        assert hashes == [tables.fingerprint("secret-project_1")]
        assert connection.scalar(select(func.count()).select_from(tables.runs)) == 0
