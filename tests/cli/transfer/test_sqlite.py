"""MLflow's database is read as it is, and what is none is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.cli.transfer.conftest import Written
from tests.support.frameworks import environment  # noqa: F401 - these need it

from runyard.cli.errors import CommandError
from runyard.cli.transfer.places import source_at
from runyard.cli.transfer.sqlite import MlflowDatabase, files_at


def test_what_is_read(database: Written) -> None:
    source = MlflowDatabase(database.folder / "mlflow.db")
    first = next(each for each in source.experiments() if each.name == "first/of all")
    runs = list(source.runs(first))
    assert [run.id for run in runs] == [database.ids["parent"], database.ids["child"]]
    assert sorted(runs[0].metrics) == ["loss", "odd"]
    assert len(source.history(runs[0], "loss")) == 1500
    assert source.history(runs[0], "none") == []
    assert source.left_out() == {}


def test_an_address_beside_the_user_with_any_name(
    database: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "my #1 mlflow?%23.db"
    (tmp_path / name).write_bytes((database.folder / "mlflow.db").read_bytes())
    monkeypatch.chdir(tmp_path)
    source = source_at(f"sqlite:///{name}")
    assert source.name == f"sqlite:///{tmp_path}/{name}"
    assert "first/of all" in {each.name for each in source.experiments()}


def test_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no file"):
        MlflowDatabase(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("hello" * 1000)
    with pytest.raises(CommandError, match="cannot be read"):
        MlflowDatabase(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE a (b)")
    with pytest.raises(CommandError, match="no database of MLflow"):
        MlflowDatabase(tmp_path / "empty.db")
    with pytest.raises(ValueError, match="not on this machine"):
        list(files_at("s3://bucket/x", tmp_path))
    assert list(files_at("none", tmp_path)) == []
    (tmp_path / "a b").write_text("x")
    assert [path for path, _ in files_at(tmp_path.as_uri(), tmp_path)] == ["a b", "empty.db", "text.db"]
