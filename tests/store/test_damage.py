"""If these fail, one damaged row hides all that is well, or stops the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from runyard.contracts import states
from runyard.store import damage
from runyard.store.assets import environments
from runyard.store.content import deletion
from runyard.store.errors import Conflict, Damaged
from runyard.store.runs import experiments, runs, workspaces
from runyard.store.runs import ids as run_ids
from runyard.store.runs.runs import Run, RunFilter
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def damaged(store: Store, statement: str) -> None:
    with store.database.write() as connection:
        connection.execute(text(statement))


@pytest.mark.parametrize(
    "change",
    ["error = '{no json'", "warnings = ''", "created_at = 9223372036854775807", "error = '" + "[" * 5000 + "'"],
    ids=["no JSON", "nothing", "no time", "deep JSON"],
)
def test_a_run_that_cannot_be_read_is_left_out_and_told(store: Store, make_run: MakeRun, change: str) -> None:
    made = [make_run(tags={"n": "x"}).id for _ in range(5)]
    damaged(store, f"UPDATE runs SET {change} WHERE id = '{made[2]}'")
    with store.database.read() as connection:
        found, _ = runs.find(connection, RunFilter(tags=[("n", "x")]))
        told = damage.seen(connection)
        assert [run.id for run in found] == [made[4], made[3], made[1], made[0]]
        assert {run.id for run in runs.active(connection)} == {*made} - {made[2]}
    assert [(each["code"], each["detail"]["id"]) for each in told] == [("database_damaged", made[2])]  # type: ignore[index]
    with store.database.read() as connection:
        assert damage.seen(connection) == []
    with store.database.read() as connection, pytest.raises(Damaged) as caught:
        runs.get(connection, made[2])
    assert caught.value.code == "database_damaged"


def test_pages_stay_whole_beside_damaged_rows(store: Store, make_run: MakeRun) -> None:
    made = [make_run().id for _ in range(9)]
    damaged(store, f"UPDATE runs SET error = '{{' WHERE id IN ('{made[8]}', '{made[6]}', '{made[3]}', '{made[2]}')")
    ids: list[str] = []
    after: str | None = None
    for _ in range(9):
        with store.database.read() as connection:
            page, after = runs.find(connection, RunFilter(), 2, after)
        ids += [run.id for run in page]
        if after is None:
            break
    assert ids == [made[each] for each in (7, 5, 4, 1, 0)]


def test_bytes_that_are_no_text(store: Store, make_run: MakeRun) -> None:
    if store.database.kind != "sqlite":
        pytest.skip("PostgreSQL refuses them")
    good, bad, tagged = make_run(), make_run(), make_run(tags={"k": "v"})
    damaged(store, f"UPDATE runs SET display_name = CAST(x'ff' AS TEXT) WHERE id = '{bad.id}'")
    damaged(store, "UPDATE labels SET value = CAST(x'ff' AS TEXT)")
    with store.database.read() as connection:
        found, _ = runs.find(connection, RunFilter())
        assert [run.id for run in found] == [good.id]
        assert {each["detail"]["id"] for each in damage.seen(connection)} == {bad.id, tagged.id}  # type: ignore[index]
    with pytest.raises(Damaged), store.database.read() as connection:
        runs.get(connection, tagged.id)


def test_a_damaged_run_can_be_deleted(store: Store, make_run: MakeRun) -> None:
    run = make_run()
    with store.database.write() as connection:
        runs.record_state(connection, run.id, states.COMPLETED, "completed")
    damaged(store, "UPDATE runs SET error = 'x'")
    assert deletion.delete_runs(store, [run.id]).runs == 1


@pytest.mark.parametrize(
    ("table", "column", "find"),
    [
        ("experiments", "tags", lambda connection: experiments.find(connection, "local")),
        ("workspaces", "tags", workspaces.find),
        ("environments", "definition", lambda connection: environments.latest(connection, "local")),
    ],
)
def test_the_other_lists_do_without_a_damaged_row(
    store: Store, table: str, column: str, find: Callable[[Any], list[Any]]
) -> None:
    with store.database.write() as connection:
        for name in ("one", "two"):
            experiments.ensure(connection, "local", name)
            workspaces.create(connection, name, "s", "g")
            environments.register(connection, "local", {"name": name})
    damaged(store, f"UPDATE {table} SET {column} = '{{' WHERE name IN ('two', 'local')")
    with store.database.read() as connection:
        assert [row.name for row in find(connection)] == ["one"]
        assert damage.seen(connection)[0]["code"] == "database_damaged"
    with store.database.read() as connection:
        assert workspaces.serial(connection, "local") == 1


def test_the_id_of_a_deleted_run_is_not_used_again(store: Store, make_run: MakeRun) -> None:
    parent = make_run("parent")
    make_run("child", parent_id="parent")
    with store.database.write() as connection:
        for id in (parent.id, "child"):
            runs.record_state(connection, id, states.COMPLETED, "completed")
    deletion.delete_runs(store, ["parent"])
    for id in ("parent", "child"):
        with pytest.raises(Conflict) as caught:
            make_run(id)
        assert caught.value.code == "run_deleted"
    with store.database.read() as connection:
        run_ids.check(connection, "another")
