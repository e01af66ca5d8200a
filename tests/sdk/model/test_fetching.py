"""A fetched model is whole or not there, whatever is damaged or in the way."""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runyard.contracts.manifest import LINK, Entry
from runyard.sdk.exceptions import AzureMLException, WebserviceException
from runyard.sdk.model import fetching
from runyard.sdk.model.model import Model
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def model(workspace: Workspace) -> Model:
    Path("model/sub").mkdir(parents=True)
    Path("model/small").write_bytes(os.urandom(100))
    Path("model/sub/again").write_bytes(Path("model/small").read_bytes())
    Path("model/large").write_bytes(os.urandom(fetching.SMALL + 1))
    Path("model/empty").write_bytes(b"")
    return Model.register(workspace, "model", f"model-{uuid.uuid4().hex[:12]}")


def same(folder: Path) -> bool:
    wanted = {path.relative_to("model"): path.read_bytes() for path in Path("model").rglob("*") if path.is_file()}
    return wanted == {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("far", [False, True])
def test_files_arrive_as_they_were(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: bool) -> None:
    if far:
        monkeypatch.setattr(model.workspace.service, "home", None)
    place = Path(model.download(tmp_path / "out"))
    assert place == tmp_path / "out" / "model"
    assert same(place)
    with pytest.raises(WebserviceException, match="exist_ok=True"):
        model.download(str(tmp_path / "out"))
    (place / "small").write_bytes(b"changed")
    assert model.download(str(tmp_path / "out"), exist_ok=True) == str(place)
    assert same(place)
    with pytest.raises(WebserviceException, match="exist_ok"):
        model.download(exists_ok=True)


def test_it_comes_once_for_many_processes_that_ask_at_once(model: Model) -> None:
    target = Path("azureml-models") / model.name / "1"
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(fetching.bring_once, model.workspace, model._document, target) for _ in range(8)]
        assert {done.result() for done in asked} == {target / "model"}
    assert same(target / "model")
    assert os.listdir(target.parent) == ["1"], "nothing is left beside it"
    stamp = (target / "model" / "large").stat().st_mtime_ns
    assert Model.get_model_path(model.name) == str(target / "model")
    assert (target / "model" / "large").stat().st_mtime_ns == stamp


@pytest.mark.parametrize("which", ["small", "large"])
def test_a_damaged_file_is_refused(model: Model, server_home: Path, tmp_path: Path, which: str) -> None:
    entries = {entry.path: entry for entry in fetching.entries_of(model.workspace, model._document)}
    digest = entries[f"model/{which}"].digest
    stored = server_home / "objects" / digest[:2] / digest[2:]
    content = stored.read_bytes()
    stored.write_bytes(bytes(len(content)))
    try:
        with pytest.raises(AzureMLException, match="damaged"):
            model.download(tmp_path / "out")
        assert not (tmp_path / "out" / "model" / which).exists()
    finally:
        stored.write_bytes(content)


def test_a_folder_that_cannot_be_written_is_named(model: Model, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WebserviceException, match="cannot be written to"):
        model.download(tmp_path / "file")


def test_a_disk_that_is_full_leaves_no_half_file(model: Model, disk_of: object) -> None:
    assert callable(disk_of)
    disk: Path = disk_of("1m")
    with pytest.raises(WebserviceException, match="No space left"):
        model.download(disk)
    assert not (disk / "model" / "large").exists()
    assert not list(disk.rglob("*.part"))


@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "../other/x"])
def test_a_link_that_leads_out_of_the_model_is_left_out(
    tmp_path: Path, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "model").mkdir()
    fetching._link(Entry("model/link", LINK, target=target), tmp_path)
    assert not (tmp_path / "model" / "link").is_symlink()
    assert "leads out of it" in caplog.text
