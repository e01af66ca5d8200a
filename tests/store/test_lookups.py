"""If these fail, a delivery is stored for another run than its own, or only some of those that came together are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runyard.contracts.states import RUNNING
from runyard.store import lookups
from runyard.store.runs.records import Run
from runyard.store.store import Store

IDS = "SELECT id, status FROM runs WHERE id IN ({keys})"
OFFSETS = 'SELECT run, writer, "offset" FROM journals WHERE (run, writer) IN ({keys})'
BEGIN = lookups.Many(
    'INSERT INTO journals (run, writer, "offset") VALUES (?, ?, ?)',
    'INSERT INTO journals (run, writer, "offset") SELECT * FROM unnest(%b::bigint[], %b::text[], %b::bigint[])',
)
SERIAL = "SELECT serial FROM runs WHERE id IN ({keys})"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_rows_are_found_by_many_keys(
    store: Store, make_run: Callable[..., Run], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "MOST_KEYS", 2)  # so that it takes more than one statement
    ids = [f"run-{number}" for number in range(count)]
    for run_id in (*ids, "other"):
        make_run(run_id, status=RUNNING)
    with store.database.read() as connection:
        found = list(lookups.rows(connection, IDS, [(run_id,) for run_id in (*ids, "nowhere")]))
        assert dict(found) == dict.fromkeys(ids, RUNNING)
        assert list(lookups.rows(connection, IDS, [])) == []


def test_keys_may_have_several_columns(store: Store, make_run: Callable[..., Run]) -> None:
    make_run("a")
    with store.database.write() as connection:
        [(run,)] = set(lookups.rows(connection, SERIAL, [("a",)]))
        lookups.execute(connection, BEGIN, [(run, f"w{number}", number) for number in range(4)])
        lookups.execute(connection, BEGIN, [])
        wanted = [(run, "w1"), (run, "w3"), (run + 1, "w2")]
        assert set(lookups.rows(connection, OFFSETS, wanted)) == {(run, "w1", 1), (run, "w3", 3)}
