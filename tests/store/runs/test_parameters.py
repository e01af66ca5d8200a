"""Parameters: what a run logs is written once, takes the place of an argument, and finds the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runyard.store.errors import Conflict
from runyard.store.runs import parameters, query_language, runs, table
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
        found = runs.get(connection, first.id).parameters
        assert {key: (value or "")[:3] for key, value in found.items()} == {
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


@pytest.mark.parametrize("keep_first", [False, True])
def test_what_a_script_logs_takes_the_place_of_an_argument(
    store: Store, make_run: Callable[..., Run], keep_first: bool
) -> None:
    run = make_run(launch={"arguments": ["--lr", "1e-1", "--depth", "3"]})
    with store.database.write() as connection:
        serial = runs.serial_of(connection, run.id)
        parameters.add(connection, serial, {"lr": "0.25", "depth": "3"}, keep_first)
        assert runs.get(connection, run.id).parameters == {"lr": "0.25", "depth": "3"}
        for other in ({"lr": "1e-1"}, {"depth": "4"}):  # logged now, if with the value of the argument
            with pytest.raises(Conflict, match="already"):
                parameters.add(connection, serial, other)
        asked = table.Asked("local", query_language.parse("params.lr>0.2"), table.sort_of("params.lr"))
        assert [each.id for each in table.page(connection, asked, 10)] == [run.id]
