"""Which place a datastore is, and in words why some have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.server.data.places import open_place
from runyard.server.middleware.problems import Problem
from runyard.store.assets.datastores import Datastore
from runyard.store.content.secrets import Secrets


def opened(home: Path, name: str, kind: str, **settings: str) -> str | None:
    secrets = Secrets(home / "secrets", "secret")
    return open_place(Datastore(name, kind, settings), home, "team", secrets).local("x")


def test_the_workspaces_own_are_folders_of_the_home_that_exist(tmp_path: Path) -> None:
    place = tmp_path / "datastores" / "team" / "workspaceblobstore"
    assert opened(tmp_path, "workspaceblobstore", "folder") == str(place / "x")
    assert place.is_dir()
    assert opened(tmp_path, "mine", "shared_folder", path="/data") == "/data/x"
    assert opened(tmp_path, "web", "web", url="http://h") is None


def test_a_share_is_read_where_it_is_mounted(tmp_path: Path) -> None:
    account = {"account_name": "a", "container_name": "c"}
    assert opened(tmp_path, "share", "azure_file", path="/mnt/share", **account) == "/mnt/share/x"
    with pytest.raises(Problem, match="does not read or write") as problem:
        opened(tmp_path, "share", "azure_file", **account)
    assert "--set path=/mnt/share" in problem.value.help
    with pytest.raises(Problem, match="Databricks"):
        opened(tmp_path, "bricks", "dbfs")


def test_credentials_that_are_gone_are_said(tmp_path: Path) -> None:
    lost = Datastore("mine", "s3", {"bucket": "b"}, {"secret_access_key": "RUNYARD_SECRET_" + "0" * 32})
    with pytest.raises(Problem, match="not on the server's disk"):
        open_place(lost, tmp_path, "team", Secrets(tmp_path / "secrets", "secret"))
