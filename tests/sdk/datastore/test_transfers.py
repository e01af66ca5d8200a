"""Transfers between this machine and an object store: whole, in SDK v1's layout, with what fails said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from azureml.core import Dataset, Datastore, Workspace
from runyard.sdk.datastore import transfers
from runyard.sdk.datastore.known import made
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from tests.support.object_stores import ObjectStore

pytestmark = pytest.mark.xdist_group("object-stores")


@pytest.fixture
def store(workspace: Workspace, object_store: ObjectStore) -> Any:
    body = object_store.datastore(f"remote_{object_store.kind}", overwrite=True)
    return made(workspace, workspace.service.post("/api/workspaces/local/datastores", body))


def test_files_go_up_and_come_back_and_are_a_dataset(store: Any, tmp_path: Path) -> None:
    source = tmp_path / "data"
    (source / "sub").mkdir(parents=True)
    files = {"a.txt": b"a", "sub/b c ü.txt": b"bb", "sub/large": bytes(3 << 20), "empty": b""}
    for name, content in files.items():
        (source / name).write_bytes(content)
    store.upload(str(source), "round", overwrite=True, show_progress=False)
    assert store.download(str(tmp_path / "here"), "round/", show_progress=False) == 4
    assert {name: (tmp_path / "here/round" / name).read_bytes() for name in files} == files
    dataset = Dataset.File.from_files((store, "round/**/*.txt"))
    assert dataset.to_path() == ["/a.txt", "/sub/b c ü.txt"]
    paths = dataset.download(str(tmp_path / "there"))
    assert [Path(path).read_bytes() for path in paths] == [b"a", b"bb"]
    with Dataset.File.from_files([(store, "round/a.txt"), (store, "round/sub")]).mount() as mounted:
        assert (Path(mounted.mount_point) / "sub/large").stat().st_size == 3 << 20


def test_a_store_that_is_gone_fails_in_words_and_leaves_nothing(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    gone = Datastore.register_s3(workspace, "gone_t", "b", "me", "hush", endpoint="http://127.0.0.1:9", overwrite=True)
    for call in (
        lambda: gone.upload_files([str(tmp_path / "a")]),
        lambda: gone.upload_files([str(tmp_path / "a")], overwrite=True),
        lambda: gone.download(str(tmp_path / "here")),
    ):
        with pytest.raises(UserErrorException) as refused:
            call()
        assert "hush" not in str(refused.value)
    assert not (tmp_path / "here").exists()


def test_a_target_that_leads_upwards_is_cut_and_other_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (chosen,) = transfers.of_folder(str(tmp_path), "../.././up")
    assert chosen.path == "up/a"
    with pytest.raises(UserErrorException):
        transfers.of_folder(str(tmp_path), "up/../../b")
