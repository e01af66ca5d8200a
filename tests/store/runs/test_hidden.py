"""Runs that are put away: no list shows them, and nothing of them is lost."""

from __future__ import annotations

from collections.abc import Callable

from runyard.store.runs import hidden, runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.records import Run
from runyard.store.store import Store


def test_a_run_that_is_put_away_is_found_by_its_id_alone(store: Store, make_run: Callable[..., Run]) -> None:
    run, other = make_run("put-away"), make_run()

    def listed(**wanted: str) -> list[str]:
        with store.database.read() as connection:
            return [each.id for each in runs.find(connection, RunFilter(**wanted))[0]]  # type: ignore[arg-type]

    with store.database.write() as connection:
        serial = runs.serial_of(connection, run.id)
        hidden.hide(connection, serial)
        hidden.hide(connection, serial)
        assert hidden.among(connection, [serial, serial + 1]) == {serial}
    assert listed() == [other.id]
    assert listed(short="put") == [run.id]
    with store.database.write() as connection:
        hidden.show(connection, serial)
    assert listed() == [other.id, run.id]
