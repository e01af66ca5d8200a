from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
from runyard.store.runs import workspaces


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
