"""Rows of databases, read by the process that asks: from SQLite, and from a PostgreSQL that the test starts."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.data.datapath import DataPath
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.datastore.datastore import Datastore
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables import sql
from runyard.sdk.tables.data_type import DataType
from runyard.sdk.tables.problem import DatasetValidationError, TableProblem
from runyard.sdk.tables.sql import Login
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def people(workspace: Workspace, tmp_path: Path) -> Any:
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER, height REAL)")
        rows = [(f"p{number}", number, number / 2) for number in range(20_000)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO people VALUES ('nobody', NULL, NULL)")
    connection.close()
    return Datastore.register_sqlite(workspace, "people", str(path), overwrite=True)


def test_rows_of_sqlite_in_more_than_one_batch(workspace: Workspace, people: Any) -> None:
    everybody = Dataset.Tabular.from_sql_query((people, "SELECT * FROM people ORDER BY rowid"))
    frame = everybody.to_pandas_dataframe()
    assert list(frame.columns) == ["name", "age", "height"]
    assert len(frame) == 20_001
    assert frame["height"].sum() == sum(number / 2 for number in range(20_000))
    young = everybody.filter(everybody["age"] < 3).keep_columns(["name"])
    assert young.to_pandas_dataframe()["name"].tolist() == ["p0", "p1", "p2"]
    kept = young.register(workspace, "young", create_new_version=True)
    assert Dataset.get_by_id(workspace, str(kept.id)).to_pandas_dataframe().equals(young.to_pandas_dataframe())
    typed = Dataset.Tabular.from_sql_query(
        DataPath(people, "SELECT age, age FROM people WHERE age = 7"), set_column_types={"age": DataType.to_string()}
    )
    assert typed.to_pandas_dataframe().values.tolist() == [["7", 7]]


def test_what_is_wrong_is_said_when_the_dataset_is_made(workspace: Workspace, people: Any, tmp_path: Path) -> None:
    with pytest.raises(DatasetValidationError, match="no such table: x"):
        Dataset.Tabular.from_sql_query((people, "SELECT * FROM x"))
    with pytest.raises(DatasetValidationError, match="There are no rows"):
        Dataset.Tabular.from_sql_query((people, "SELECT * FROM people WHERE age = -1"))
    with pytest.raises(DatasetValidationError, match="readonly"):
        Dataset.Tabular.from_sql_query((people, "DELETE FROM people"))
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(DatasetValidationError, match="It had 1 s: query_timeout"):
        Dataset.Tabular.from_sql_query((people, endless), query_timeout=1)
    for query in ("SELECT 1", (people, ""), (people,)):
        with pytest.raises(UserErrorException, match="is no query"):
            Dataset.Tabular.from_sql_query(query)
    away = Datastore.register_sqlite(workspace, "away", str(tmp_path / "away.db"), overwrite=True)
    with pytest.raises(DatasetValidationError, match="is not on this machine"):
        Dataset.Tabular.from_sql_query((away, "SELECT 1"))
    files = workspace.get_default_datastore()
    with pytest.raises(DatasetValidationError, match="is no database"):
        Dataset.Tabular.from_sql_query((files, "SELECT 1"))


def test_rows_of_postgresql(workspace: Workspace, empty_postgresql_url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(empty_postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE sales (id uuid, day date, at timestamptz, price numeric(10, 2), n bigint)")
        connection.execute(
            "INSERT INTO sales SELECT gen_random_uuid(), '2020-01-02', '2020-01-02 03:04:05+02', 1.5, n "
            "FROM generate_series(1, 30000) AS n"
        )
        info = connection.info
        store = Datastore.register_azure_postgre_sql(
            *(workspace, "sold", info.host, info.dbname, info.user, "not-asked-for"),
            info.port,
            enforce_ssl=False,
        )
    sales = Dataset.Tabular.from_sql_query((store, "SELECT * FROM sales ORDER BY n"))
    frame = sales.to_pandas_dataframe()
    assert len(frame) == 30_000
    assert (frame["price"].sum(), frame["n"].tolist()[-1], str(frame["n"].dtype)) == (45_000.0, 30_000, "int64")
    assert len(frame["id"][0]) == 36
    assert sales.filter(sales["n"] > 29_990).to_pandas_dataframe()["n"].tolist() == list(range(29_991, 30_001))
    with pytest.raises(DatasetValidationError, match="syntax error"):
        Dataset.Tabular.from_sql_query((store, "DELETE FROM sales RETURNING n"))
    with pytest.raises(DatasetValidationError, match="It had 1 s"):
        Dataset.Tabular.from_sql_query((store, "SELECT pg_sleep(30)"), query_timeout=1)
    assert "not-asked-for" not in repr(workspace.service.get(f"/api/workspaces/{workspace.name}/datastores/sold"))


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "import_module", _absent)
    packages = {"azure_postgre_sql": "psycopg", "azure_my_sql": "pymysql", "azure_sql_database": "pyodbc"}
    for kind, package in packages.items():
        with pytest.raises(TableProblem, match=f"pip install {package}"):
            next(sql.rows(Login("db", kind, {"server_name": "h", "database_name": "d"}, {}), "SELECT 1", 1))


def _absent(name: str) -> Any:
    raise ImportError(name)


def test_the_server_of_a_database_and_its_password() -> None:
    place = {"server_name": "h", "endpoint": ".mysql.database.azure.com"}
    azure = Login("db", "azure_my_sql", place, {"password": "p"})
    assert (azure.host, azure.port(3306)) == ("h.mysql.database.azure.com", 3306)
    assert "'p'" not in repr(azure)
    problem = sql._problem(Login("db", "azure_my_sql", {}, {"password": "s3cr3t"}), "SELECT 1", OSError("no s3cr3t"))
    assert "s3cr3t" not in str(problem)
