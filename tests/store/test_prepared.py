"""Prepared statements read and write what SQLAlchemy itself would, on every database."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, bindparam, exc, insert, select, update

from runyard.store.database import Database
from runyard.store.prepared import Prepared
from runyard.store.runs import experiments, runs
from runyard.store.runs.runs import NewRun
from runyard.store.store import Store
from runyard.store.tables import labels as label_rows
from runyard.store.tables import runs as run_rows

_BY_ID = select(run_rows).where(run_rows.c.id == bindparam("id"))


@pytest.fixture
def stored(store: Store) -> Database:
    with store.database.write() as connection:
        experiments.ensure(connection, "local", "e")
        for name in ("first", "second"):
            runs.create(connection, NewRun(id=name, workspace="local", experiment="e", tags={"a\0": "ü"}))
        runs.record_state(connection, "first", "Failed", "why", error={"code": "X"}, warnings=[{"message": "w"}])
    return store.database


def test_rows_are_those_of_sqlalchemy(stored: Database) -> None:
    with stored.read() as connection:
        expected = connection.execute(_BY_ID, {"id": "first"}).one()
        found = Prepared(_BY_ID).first(connection, {"id": "first"})
    assert tuple(found) == tuple(expected)
    assert found._fields == tuple(expected._fields)
    assert found.error == {"code": "X"}
    assert found.created_at.tzinfo is timezone.utc


def test_nothing_found_is_none(stored: Database) -> None:
    with stored.read() as connection:
        assert Prepared(_BY_ID).first(connection, {"id": "third"}) is None
        assert Prepared(_BY_ID).scalar(connection, {"id": "third"}) is None
        assert Prepared(_BY_ID).all(connection, {"id": "third"}) == []


def test_values_are_converted_on_their_way_in(stored: Database) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 6, timezone.utc)
    change = Prepared(
        update(run_rows)
        .where(run_rows.c.id == bindparam("which"))
        .values(started_at=bindparam("at"), description=bindparam("text"), warnings=bindparam("list"))
    )
    with stored.write() as connection:
        assert change.run(connection, {"which": "second", "at": at, "text": "a\0b", "list": [1]}) == 1
        assert change.run(connection, {"which": "third", "at": at, "text": "", "list": None}) == 0
    with stored.read() as connection:
        row = connection.execute(_BY_ID, {"id": "second"}).one()
    assert (row.started_at, row.description, row.warnings) == (at, "a\ufffdb", [1])


def test_what_a_statement_has_of_its_own_is_sent_too(stored: Database) -> None:
    newest = Prepared(select(run_rows.c.id).order_by(run_rows.c.serial.desc()).limit(1))
    with stored.read() as connection:
        assert newest.scalar(connection, {}) == "second"


def test_a_refused_row_is_raised_as_by_sqlalchemy(stored: Database) -> None:
    again = Prepared(insert(label_rows), ("run", "kind", "key_hash", "key"))
    values = {"run": 1, "kind": "tag", "key_hash": b"x", "key": "x"}
    with stored.write() as connection:
        again.run(connection, values)
    with pytest.raises(exc.IntegrityError), stored.write() as connection:
        again.run(connection, values)


def test_a_default_that_python_computes_is_no_thing_for_it(stored: Database) -> None:
    table = Table("t", MetaData(), Column("a", Integer), Column("b", Integer, default=lambda: 7))
    with pytest.raises(ValueError, match="default"), stored.write() as connection:
        Prepared(insert(table), ("a",)).run(connection, {"a": 1})
