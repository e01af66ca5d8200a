from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from runyard.store import migrations, tables
from runyard.store.assets import environments
from runyard.store.database import Database
from runyard.store.metrics import chunks, last_values
from runyard.store.runs import query_language, runs, table, workspaces
from runyard.store.tables import fingerprint


def test_head_names_the_last_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_heads() == [migrations.HEAD]


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/r.db"
    url: str = request.getfixturevalue("empty_postgresql_url")
    return url


def test_the_steps_make_the_tables_that_the_code_expects(empty_url: str) -> None:
    with begun(empty_url) as connection:
        migrations.upgrade(connection)
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "version_table": migrations.VERSION_TABLE}
        )
        assert compare_metadata(context, tables.metadata) == []
        by_steps = _described(connection)
        tables.metadata.drop_all(connection)
        connection.execute(text(f"DROP TABLE {migrations.VERSION_TABLE}"))
    database = Database.open(empty_url)
    with database.read() as connection:
        assert _described(connection) == by_steps
    database.close()


def test_a_new_database_takes_the_next_step_as_an_old_one_does(empty_url: str) -> None:
    Database.open(empty_url).close()
    with begun(empty_url) as connection:
        migrations.upgrade(connection)  # nothing to do, and Alembic knows it
        version = connection.execute(text(f"SELECT version_num FROM {migrations.VERSION_TABLE}")).scalars().all()
        assert version == [migrations.HEAD]


def test_a_database_of_the_first_version_keeps_its_rows(empty_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with begun(empty_url) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO workspaces (id, name, subscription_id, resource_group, location, tags, created_at) "
                "VALUES ('1', 'old', 's', 'g', 'l', '{}', 0)"
            )
        )
    database = Database.open(empty_url)
    with database.read() as connection:
        assert workspaces.get(connection, "old").resource_group == "g"
        assert environments.latest(connection, "old") == []
    database.close()


OF_THE_TABLE_OF_RUNS = {
    "workspaces": {
        "id": "w",
        "name": "old",
        "subscription_id": "s",
        "resource_group": "g",
        "location": "l",
        "tags": "{}",
        "created_at": 0,
    },
    "experiments": {"id": "e", "workspace": 1, "name": "mnist", "tags": "{}", "last_number": 2, "created_at": 0},
}


def test_a_filled_database_gets_what_the_table_of_runs_is_filtered_by(empty_url: str) -> None:
    """Numbers in labels, arguments as parameters, and last values, of runs that were there before; what cannot be read
    is left out, and does not stop the server from starting."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with begun(empty_url) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0016")
        for name, row in OF_THE_TABLE_OF_RUNS.items():
            _put(connection, name, row)
        for number, run in enumerate(("a", "b"), 1):
            _put_run(connection, number, run)
        launch = {"script": "train.py", "arguments": ["--lr", "1e-1", "--name", "x", "--flag"]}
        for serial, text_of in ((1, json.dumps(launch, separators=(",", ":"))), (2, '{"arguments":[broken')):
            _put(connection, "launches", {"run": serial, "launch": text_of})
        for key, value in (("rate", "0.25"), ("owner", "me"), ("none", None)):
            _put_label(connection, 1, key, value)
        first, second, other = (
            _put_series(connection, run, name, chunk)
            for run, name, chunk in (
                (1, "acc", chunks.pack([0.5, 0.75], [1.0, 2.0], [3, 4])),
                (1, "texts", chunks.pack(["a", "b"], [1.0, 2.0], [None, None])),
                (2, "acc", replace(chunks.pack([0.25], [1.0], [None]), times=b"damaged")),
            )
        )
        assert (first, second, other) == (1, 2, 3)
    database = Database.open(empty_url)
    with database.read() as connection:
        assert runs.get(connection, "a").parameters == {"lr": "1e-1", "name": "x", "flag": "true"}
        assert runs.get(connection, "b").parameters == {}
        numbers = connection.execute(text("SELECT key, number FROM labels ORDER BY key")).all()
        assert [tuple(each) for each in numbers] == [
            *(("flag", None), ("lr", 0.1), ("name", None), ("none", None), ("owner", None), ("rate", 0.25)),
        ]
        known = last_values.of_runs(connection, [1, 2])
        assert {
            run: [(each.name, each.value, each.step) for each in found] for run, found in known.items() if found
        } == {1: [("acc", 0.75, 4)]}
        for sentence, found in (("metrics.acc>0.7", "a"), ("params.lr=0.10", "a"), ("tag.rate<1", "a")):
            asked = table.Asked("old", query_language.parse(sentence))
            assert [run.id for run in table.page(connection, asked, 10)] == [found], sentence
    database.close()


def _put(connection: Connection, into: str, row: dict[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in row)
    connection.execute(text(f"INSERT INTO {into} ({names}) VALUES ({', '.join(f':{name}' for name in row)})"), row)


def _put_run(connection: Connection, number: int, run: str) -> None:
    told = {"id": run, "root_id": run, "kind": "script", "type": "azureml.scriptrun", "status": "Completed"}
    row = {"number": number, "workspace": 1, "experiment": 1, "target": "local", "created_at": number}
    _put(connection, "runs", {**told, **row})


def _put_label(connection: Connection, run: int, key: str, value: str | None) -> None:
    hashes = {"key_hash": fingerprint(key), "value_hash": None if value is None else fingerprint(value)}
    _put(connection, "labels", {"run": run, "kind": "tag", "key": key, "value": value, **hashes})


def _put_series(connection: Connection, run: int, name: str, chunk: chunks.Chunk) -> int:
    row = {"identity": fingerprint(name), "name": name, "kind": "values", "type": ""}
    _put(connection, "series", {"run": run, "points": chunk.count, "chunks": 1, **row})
    serial = int(connection.execute(text("SELECT max(serial) FROM series")).scalar_one())
    _put(connection, "chunks", {"series": serial, "ordinal": 0, **asdict(chunk)})
    return serial


@contextmanager
def begun(url: str) -> Iterator[Connection]:
    """A transaction on a database that Runyard has not opened."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def _described(connection: Connection) -> dict[str, Any]:
    inspector = inspect(connection)
    return {
        name: {
            "columns": {c["name"]: (str(c["type"]), c["nullable"]) for c in inspector.get_columns(name)},
            "key": inspector.get_pk_constraint(name)["constrained_columns"],
            "references": sorted(
                (k["constrained_columns"], k["referred_table"], k["referred_columns"], k["options"].get("ondelete"))
                for k in inspector.get_foreign_keys(name)
            ),
            "indexes": sorted((i["name"] or "", i["column_names"]) for i in inspector.get_indexes(name)),
            "unique": sorted(c["column_names"] for c in inspector.get_unique_constraints(name)),
            "options": inspector.get_table_options(name),
        }
        for name in sorted([*tables.metadata.tables, migrations.VERSION_TABLE])
    }
