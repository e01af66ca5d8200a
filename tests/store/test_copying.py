from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from runyard.contracts import states
from runyard.contracts.journal import line
from runyard.contracts.manifest import Entry, make
from runyard.contracts.services.settings import Settings
from runyard.contracts.sweeps.sweep import Sweep
from runyard.store import copying, sessions, tables
from runyard.store.assets import (
    datasets,
    datastores,
    environment_maps,
    environments,
    model_content,
    models,
    run_outputs,
    services,
    sweeps,
    vault,
)
from runyard.store.content import deletion, files, retention, snapshots, wheels
from runyard.store.database import Database
from runyard.store.errors import Refused
from runyard.store.metrics import journals
from runyard.store.mlflow import inputs, logged_models, registry
from runyard.store.runs import experiments, parameters, runs, saved_views, workspace_settings, workspaces
from runyard.store.runs.records import SWEEP, NewRun, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


@pytest.fixture
def target(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[Database]:
    """An empty database of the other kind than that of the test's store."""
    if database_url.startswith("sqlite"):
        url = request.getfixturevalue("empty_postgresql_url")
    else:
        url = f"sqlite:///{tmp_path}/copy.db"
    database = Database.open(url)
    yield database
    database.close()


def fill(store: Store, make_run: MakeRun) -> None:
    """Something in every table, and awkward values in some."""
    stored = store.objects.put([b"print()"])
    wheel = store.objects.put([b"wheel"])
    code = make([Entry("train.py", digest=stored.digest, size=stored.size)])
    with store.database.write() as connection:
        snapshots.create(connection, code)
        workspaces.create(connection, "other", "s", "g", tags={"ü": "☃\\u0000"})
        environment = {"name": "mine", "docker": {"buildContext": {"location": f"runyard://snapshots/{code.id}"}}}
        environments.register(connection, "other", environment)
        environment_maps.put(connection, "other", "*", definition=environment)
        vault.put(connection, "other", "mine", "RUNYARD_SECRET_x", "ü")
        workspace_settings.put(connection, "other", "environments.relax", "true")
        wheels.put(connection, "other", "mine-1.0-py3-none-any.whl", wheel)
        images = datasets.save(connection, "other", {"kind": "file", "sources": [{"url": "http://h/ü"}], "steps": []})
        datasets.register(connection, "other", images.id, "images", tags={"ü": "☃"})
        datastores.register(connection, "other", "bucket", "s3", {"bucket": "b"}, {"secret_access_key": "NAME"})
    make_run("r", snapshot_id=code.id, tags={"a": "b", "long": "x" * 10_000}, definition={"x": [1, None, 1e300]})
    make_run("child", parent_id="r", launch={"outputs": [{"name": "made", "registration": {"name": "birds"}}]})
    make_run("HD_1", kind=SWEEP)
    with store.database.write() as connection:
        sweeps.create(connection, "HD_1", Sweep({"name": "GRID", "ü": "☃"}, "loss", "minimize", 2, 1), {"p": None})
        sweeps.add_trials(connection, "HD_1", {0: {"ü": 1e300}, 1: {"ü": None}})
        sweeps.set_results(connection, "HD_1", {0: (0.1, 3)})
        sweeps.set_verdict(connection, "HD_1", 1, "☃")
    strange = ({"f": name} for name in ("nan", "inf", "-inf"))
    points = b"".join(line("v", "loss", value, 1.0, 1) for value in (0.5, *strange))
    with store.database.write() as connection:
        run_outputs.keep(connection, "child", True)
        journals.accept(connection, "r", "w", 0, points + line("l", "ints", [1, 2], 1.0) + line("d", "loss", "why"))
        some = line("v", "loss", 0.25, 2.0, 2)
        journals.accept_many(connection, [journals.incoming(runs.serial_of(connection, "r"), "x", 0, some)])
        files.put(connection, "r", "outputs/ü", stored)
        made = model_content.of_run(connection, "r", "outputs")
        models.register(connection, "local", "m", made, models.Details(tags={"ü": "☃"}), "r", "x" * 16)
        service = services.create(connection, a_service())
        services.add_version(connection, service, "v", 1, 100.0, True, False)
        made_of = services.NewRevision("v", [{"name": "m", "version": 1}], {}, service.settings, code.id, "ü")
        services.add_replica(connection, service, "child", "v", services.add_revision(connection, service, made_of))
        models.set_uses(connection, "local", "service", [("m", 1)])
        run = runs.serial_of(connection, "child")
        parameters.add(connection, run, {"ü": "☃"})
        runs.archive(connection, ["child"], True)
        inputs.add_dataset(connection, run, {"dataset": {"name": "ü", "digest": "1"}})
        inputs.add_models(connection, run, inputs.INPUT, [("m-1", 1)])
        logged_models.create(connection, "local", experiments.ensure(connection, "local", "exp"), "ü", "child")
        saved_views.put(connection, "local", "ü", "status:failed")
        sessions.begin_link(connection, "127.0.0.1")
        registry.create(connection, "local", "said", "☃", {"ü": "☃"})
        registry.set_alias(connection, "local", "m", "ü", 1)
        registry.put_origin(connection, models.get(connection, "local", "m").serial, source="runs:/r/ü")
    files.append(store, "r", "log", 0, b"grows")
    make_run("old", status=states.COMPLETED)
    retention.apply(store, "local", retention.LOGS, timedelta(0))
    make_run("deleted", status=states.COMPLETED)
    deletion.delete_runs(store, ["deleted"])


def a_service() -> services.NewService:
    keys, tags = {"primary": "NAME"}, {"ü": "☃"}
    return services.NewService("local", "svc", "aci", Settings(), 0, keys, tags, {}, None, None)


def content(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as connection:
        return {
            table.name: sorted((repr(tuple(row)),) for row in connection.execute(select(table)))
            for table in tables.metadata.sorted_tables
            if table is not tables.identity
        }


def test_every_row_arrives_as_it_was(store: Store, make_run: MakeRun, target: Database) -> None:
    fill(store, make_run)
    with store.database.write() as connection:
        connection.execute(
            insert(tables.compute_targets).values(
                workspace=connection.scalar(select(tables.workspaces.c.serial).limit(1)), name="c", document={"a": 1}
            )
        )
    before = content(store.database)
    assert not [name for name, rows in before.items() if not rows and name != "environment_labels"]
    assert copying.copy(store.database, target) == copying.rows(store.database) > 20
    assert content(target) == before


def test_numbers_go_on_where_they_were_though_their_rows_are_deleted(
    store: Store, make_run: MakeRun, target: Database
) -> None:
    """A growing file is called by the number of its row: late bytes for a deleted one must not reach another."""
    make_run("kept")
    make_run("gone", status=states.COMPLETED)
    files.append(store, "gone", "log", 0, b"x")
    (former,) = store.growing.all()
    deletion.delete_runs(store, ["gone"])
    copying.copy(store.database, target)
    with target.write() as connection:
        runs.create(connection, NewRun("new", "local", "exp"))
        values = {
            "run": 1,
            "name_hash": b"n",
            "name": "n",
            "size": 0,
            "updated_at": runs.get(connection, "new").created_at,
        }
        key = connection.scalar(insert(tables.files).values(**values).returning(tables.files.c.serial))
        assert runs.get(connection, "new").number == 3
    assert key is not None
    assert key > former


def test_a_database_that_holds_something_is_not_written_to(store: Store, make_run: MakeRun, target: Database) -> None:
    make_run("r")
    with target.write() as connection:
        workspaces.ensure_default(connection)
    before = content(target)
    with pytest.raises(Refused, match="in use already") as caught:
        copying.copy(store.database, target)
    assert caught.value.code == "database_not_empty"
    assert content(target) == before
