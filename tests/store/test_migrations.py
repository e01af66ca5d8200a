from __future__ import annotations

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
    database = Database.open(empty_url)
    with database.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "version_table": migrations.VERSION_TABLE}
        )
        assert compare_metadata(context, tables.metadata) == []
        made = _described(connection)
    database.close()
    assert made == _made_directly(empty_url)


def test_a_database_of_the_first_version_keeps_its_rows(empty_url: str) -> None:
    engine = create_engine(empty_url.replace("postgresql:", "postgresql+psycopg:"))
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO workspaces (id, name, subscription_id, resource_group, location, tags, created_at) "
                "VALUES ('1', 'old', 's', 'g', 'l', '{}', 0)"
            )
        )
    engine.dispose()
    database = Database.open(empty_url)
    with database.read() as connection:
        assert workspaces.get(connection, "old").resource_group == "g"
        assert environments.latest(connection, "old") == []
    database.close()


def _made_directly(url: str) -> dict[str, Any]:
    """The same tables, made from the metadata in place of those that the steps made."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        tables.metadata.drop_all(connection)
        tables.metadata.create_all(connection)
        found = _described(connection)
    engine.dispose()
    return found


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
        for name in sorted(tables.metadata.tables)
    }
