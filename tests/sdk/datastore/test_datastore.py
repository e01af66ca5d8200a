"""`Datastore`: found and registered as SDK v1's notebooks do, with the classes that they expect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from azureml.core import Dataset, Datastore, Workspace
from azureml.data.azure_data_lake_datastore import AzureDataLakeGen2Datastore
from azureml.data.azure_storage_datastore import AzureBlobDatastore, AzureFileDatastore
from runyard.sdk.exceptions import UserErrorException

nothing: Any = None


def test_the_workspaces_own_are_there_from_the_start(workspace: Workspace) -> None:
    default = workspace.get_default_datastore()
    assert isinstance(default, AzureBlobDatastore)
    assert (default.name, default.datastore_type) == ("workspaceblobstore", "AzureBlob")
    assert isinstance(Datastore(workspace, "workspacefilestore"), AzureFileDatastore)
    assert Datastore(workspace).name == Datastore.get_default(workspace).name == "workspaceblobstore"
    assert {"workspaceblobstore", "workspacefilestore"} <= set(workspace.datastores)
    with pytest.raises(UserErrorException, match="nowhere"):
        Datastore.get(workspace, "nowhere")


def test_each_kind_is_registered_and_found_without_its_credentials(workspace: Workspace) -> None:
    blob = Datastore.register_azure_blob_container(workspace, "blob_a", "images", "account", account_key="hush")
    assert (blob.container_name, blob.account_name, blob.credential_type) == ("images", "account", "AccountKey")
    assert blob.account_key is None
    assert "hush" not in str(blob)
    with pytest.raises(UserErrorException, match="already"):
        Datastore.register_azure_blob_container(workspace, "blob_a", "images", "account")
    lake = Datastore.register_azure_data_lake_gen2(workspace, "lake_a", "fs", "account", "t", "c", "s")
    assert isinstance(Datastore.get(workspace, "LAKE_A"), AzureDataLakeGen2Datastore)
    assert (lake.container_name, lake.client_secret) == ("fs", None)
    share = Datastore.register_azure_file_share(workspace, "share_a", "share", "account", sas_token="?sig=hush")
    assert (share.datastore_type, share.is_sas) == ("AzureFile", True)
    bucket = Datastore.register_s3(workspace, "s3_a", "bucket", "me", "hush", region="eu-west-1")
    assert bucket.settings == {"access_key_id": "me", "bucket": "bucket", "region": "eu-west-1"}
    postgres = Datastore.register_azure_postgre_sql(workspace, "pg_a", "server", "db", "me", "hush")
    assert (postgres.datastore_type, vars(postgres)["user_id"]) == ("AzurePostgreSql", "me")
    for each in ("blob_a", "lake_a", "share_a", "s3_a", "pg_a"):
        workspace.datastores[each].unregister()
    assert not {"blob_a", "s3_a"} & set(workspace.datastores)


@pytest.mark.parametrize(
    "call",
    [
        lambda ws: Datastore.register_azure_blob_container(ws, "a/b", "c", "a"),
        lambda ws: Datastore.register_azure_blob_container(ws, "ab", "c", "a", grant_workspace_access=True),
        lambda ws: Datastore.register_azure_data_lake_gen2(ws, "ab", "c", "a", tenant_id="t"),
        lambda ws: Datastore.register_azure_my_sql(ws, "ab", "s", "d", nothing, "p"),
        lambda ws: Datastore.register_hdfs(ws, "ab", "http", "n", None, "r", "k", "p"),
        lambda ws: Datastore.register_s3(ws, "ab", nothing),
        lambda ws: Datastore.get(ws, nothing),
    ],
)
def test_what_sdk_v1_refuses_is_refused(workspace: Workspace, call: Any) -> None:
    with pytest.raises(UserErrorException):
        call(workspace)


def test_a_default_is_chosen_and_left(workspace: Workspace, tmp_path: Path) -> None:
    mine = Datastore.register_folder(workspace, "mine_d", str(tmp_path))
    try:
        mine.set_as_default()
        assert workspace.get_default_datastore().name == "mine_d"
        workspace.set_default_datastore("workspacefilestore")
        assert workspace.get_default_datastore().name == "workspacefilestore"
    finally:
        workspace.set_default_datastore("workspaceblobstore")
        mine.unregister()


def test_a_datastores_files_are_a_dataset(workspace: Workspace, tmp_path: Path) -> None:
    store = tmp_path / "store"
    (store / "d").mkdir(parents=True)
    (store / "d" / "a.csv").write_text("1")
    mine = Datastore.register_folder(workspace, "mine_f", str(store))
    try:
        assert Dataset.File.from_files((mine, "d/**")).to_path() == ["/a.csv"]
        assert Dataset.File.from_files(mine.path("d/a.csv")).to_path() == ["/a.csv"]
        (copied,) = Dataset.File.from_files([(mine, "d/*.csv")]).download(str(tmp_path / "here"))
        assert Path(copied).read_text() == "1"
    finally:
        mine.unregister()
