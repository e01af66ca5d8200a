"""Parameters: what a run was started with is written once, and finds it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runyard.store.errors import Conflict
from runyard.store.runs import parameters, runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.records import Run
from runyard.store.store import Store


def test_a_parameter_keeps_its_first_value_and_finds_the_run(store: Store, make_run: Callable[..., Run]) -> None:
    first, second = make_run(), make_run()
    with store.database.write() as connection:
        serial = runs.serial_of(connection, first.id)
        parameters.add(connection, serial, {"lr": "0.1", "long \0": "x" * 100_000})
        parameters.add(connection, serial, {"lr": "0.1", "more": ""})
        parameters.add(connection, runs.serial_of(connection, second.id), {"lr": "0.2"})
        with pytest.raises(Conflict, match=r"'lr' is '0.1' already"):
            parameters.add(connection, serial, {"new": "1", "lr": "0.3"})
        parameters.add(connection, serial, {"lr": "0.3", "kept": "1"}, keep_first=True)
    with store.database.read() as connection:
        found = parameters.of_run(connection, serial)
        assert {key: value[:3] for key, value in found.items()} == {
            "kept": "1",
            "long \ufffd": "xxx",
            "lr": "0.1",
            "more": "",
        }
        for wanted, expected in (
            ([("lr", "0.1")], [first.id]),
            ([("lr", None)], [second.id, first.id]),
            ([("lr", None), ("more", "")], [first.id]),
            ([("lr", "0.3")], []),
        ):
            listed, _ = runs.find(connection, RunFilter(workspace="local", parameters=wanted))
            assert [run.id for run in listed] == expected
