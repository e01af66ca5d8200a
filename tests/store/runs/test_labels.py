from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from runyard.store.errors import Conflict, Refused
from runyard.store.mlflow import logging
from runyard.store.runs import labels, runs
from runyard.store.runs.labels import PROPERTY, SUBMITTED_FROM, TAG
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def read(connection: Connection, run: int, kind: str) -> dict[str, str | None]:
    return labels.of(connection, [run]).get((run, kind), {})


def test_tags_are_set_replaced_and_removed(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.write() as connection:
        run = runs.serial_of(connection, "r")
        labels.put(connection, run, TAG, {"a": "1", "b": None, "c": "3"})
        labels.put(connection, run, TAG, {"a": "2", "nul\0": "x\0"})
        labels.remove(connection, run, TAG, ["c", "not there"])
        assert read(connection, run, TAG) == {"a": "2", "b": None, "nul\ufffd": "x\ufffd"}
        assert read(connection, run, PROPERTY) == {}


def test_keys_that_are_the_same_once_stored_are_one_label(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.write() as connection:
        run = runs.serial_of(connection, "r")
        labels.add(connection, run, TAG, {"a\0": "first", "a\ufffd": "last"})
        assert read(connection, run, TAG) == {"a\ufffd": "last"}


def test_a_property_keeps_its_first_value(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.write() as connection:
        run = runs.serial_of(connection, "r")
        labels.add_properties(connection, run, {"a": "1", "b": "x\0"})
        labels.add_properties(connection, run, {"a": "1", "b": "x\0", "c": "3"})
        labels.add_properties(connection, run, {"a": "other", "d": "4"}, keep_first=True)
        assert read(connection, run, PROPERTY) == {"a": "1", "b": "x\ufffd", "c": "3", "d": "4"}
        with pytest.raises(Conflict) as refused:
            labels.add_properties(connection, run, {"a": "other"})
    assert (refused.value.code, refused.value.detail) == ("property_fixed", {"property": "a", "value": "1"})


def test_nobody_but_the_server_names_the_run_that_another_was_submitted_from(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.write() as connection:
        run = runs.serial_of(connection, "r")
        labels.add_properties(connection, run, {SUBMITTED_FROM: "other", "a": "1"}, keep_first=True)
        assert read(connection, run, PROPERTY) == {"a": "1"}
        with pytest.raises(Conflict, match="set by the server alone"):
            labels.add_properties(connection, run, {SUBMITTED_FROM: "other"})


def test_a_request_with_very_many_labels_does_not_hold_up_all_who_write(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "MOST_AT_ONCE", 3)
    make_run("r")
    with store.database.write() as connection:
        for asked in (
            {"set_tags": dict.fromkeys("abcd")},
            {"set_tags": {"a": "1"}, "add_properties": {"b": "1"}, "remove_tags": ["c", "d"]},
        ):
            with pytest.raises(Refused, match="4 tags"):
                runs.update(connection, "r", **asked)
        with pytest.raises(Refused, match="4 tags"):
            logging.put(connection, runs.serial_of(connection, "r"), given={"lr": "1"}, tags=dict.fromkeys("abc", ""))
        assert runs.update(connection, "r", set_tags=dict.fromkeys("abc")).tags == dict.fromkeys("abc")
    with pytest.raises(Refused, match="4 tags"):
        make_run("many", tags=dict.fromkeys("abcd"))
