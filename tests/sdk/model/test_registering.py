"""Registering sends what the server lacks, from where the user says, and says plainly what cannot be registered."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.exceptions import ModelPathNotFoundException, WebserviceException
from runyard.sdk.experiment import Experiment
from runyard.sdk.model.model import Model
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def name() -> str:
    return f"model-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def remote(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The workspace as a client on another machine has it: it shares no disk with the server."""
    monkeypatch.setattr(workspace.service, "home", None)
    return workspace


def folder(**files: bytes) -> None:
    for path, content in files.items():
        place = Path("model", path.replace("__", "/"))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def laid_out(model: Model, target: Path) -> dict[str, bytes]:
    model.download(target)
    return {
        path.relative_to(target).as_posix(): path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize("where", ["workspace", "remote"])
def test_a_folder_keeps_its_last_component_wherever_the_server_is(
    where: str, request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    workspace: Workspace = request.getfixturevalue(where)
    folder(a=b"1", sub__b=os.urandom(3 << 20), **{"hidden__.amlignore": b"*"})
    model = Model.register(workspace, "./model/", name)
    assert model.unpack
    assert set(laid_out(model, tmp_path / "out")) == {"model/a", "model/sub/b", "model/hidden/.amlignore"}
    assert (tmp_path / "out/model/sub/b").read_bytes() == Path("model/sub/b").read_bytes()


def test_equal_versions_are_stored_once(workspace: Workspace, server_home: Path, name: str) -> None:
    content = os.urandom(1 << 20)
    folder(same=content, other=b"1")
    first = Model.register(workspace, "model", name)
    objects = {path for path in (server_home / "objects").rglob("*") if path.is_file()}
    Path("model/other").write_bytes(b"22")
    second = Model.register(workspace, "model", name)
    third = Model.register(workspace, "model", name)
    assert [each.version for each in (first, second, third)] == [1, 2, 3]
    assert third._document["tree"] == second._document["tree"] != first._document["tree"]
    new = {path for path in (server_home / "objects").rglob("*") if path.is_file()} - objects
    assert sum(path.stat().st_size for path in new) < 1000


def test_child_paths_pick_parts_of_a_folder(workspace: Workspace, tmp_path: Path, name: str) -> None:
    folder(a=b"1", b=b"2", c__d=b"3", c__e=b"4")
    model = Model.register(workspace, "model", name, child_paths=["a", "./c/"])
    assert set(laid_out(model, tmp_path / "out")) == {"model/a", "model/c/d", "model/c/e"}
    with pytest.raises(FileNotFoundError, match="none in child_paths"):
        Model.register(workspace, "model", name, child_paths=["none"])
    with pytest.raises(WebserviceException, match="no path in the folder"):
        Model.register(workspace, "model", name, child_paths=["../x"])
    with pytest.raises(WebserviceException, match="a file"):
        Model.register(workspace, "model/a", name, child_paths=["a"])


def test_links_within_the_model_stay_links(workspace: Workspace, tmp_path: Path, name: str) -> None:
    folder(a=b"1")
    Path("model/link").symlink_to("a")
    Path("elsewhere").write_bytes(b"2")
    Path("model/file").symlink_to(Path("elsewhere").absolute())
    Path("model/run.sh").write_bytes(b"#!/bin/sh")
    Path("model/run.sh").chmod(0o755)
    place = Path(Model.register(workspace, "model", name).download(tmp_path / "out"))
    assert os.readlink(place / "link") == "a"
    assert (place / "file").read_bytes() == b"2"
    assert os.access(place / "run.sh", os.X_OK)


def test_wrong_paths_and_arguments_say_what_is_wrong(workspace: Workspace, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match="neither a file nor a folder"):
        Model.register(workspace, "nowhere", name)
    for long in ("x" * 100_000, "a/../" * 20_000 + "x"):
        with pytest.raises(FileNotFoundError) as error:
            Model.register(workspace, long, name)
        assert len(str(error.value)) < 1000
    Path("empty/below").mkdir(parents=True)
    with pytest.raises(WebserviceException, match="no file in the folder"):
        Model.register(workspace, "empty", name)
    Path("here").mkdir()
    Path("m").write_bytes(b"1")
    os.chdir("here")
    for outside in ("../m", str(tmp_path / "m"), ".."):
        with pytest.raises(PermissionError, match="not below the working folder"):
            Model.register(workspace, outside, name)
    os.chdir("..")
    Path("here/link").symlink_to(Path("m").absolute())
    os.chdir("here")
    with pytest.raises(PermissionError):
        Model.register(workspace, "link", name)
    os.chdir("..")
    for bad in ("", "..", "../x", "a/b", "x" * 256, "x" * 100_000, None):
        with pytest.raises(WebserviceException, match="is no name for a model") as refusal:
            Model.register(workspace, "m", bad)  # type: ignore[arg-type]
        assert len(refusal.value.message) < 1000
    wrong: dict[str, Any] = {
        "tags": ["a"],
        "properties": "x",
        "model_framework_version": "2",
        "datasets": ["x"],
        "resource_configuration": 1,
        "model_framework": 1,
        "description": "x" * 100_000,
    }
    for argument, value in wrong.items():
        with pytest.raises(WebserviceException):
            Model.register(workspace, "m", name, **{argument: value})
    assert Model.list(workspace, name=name) == []


def test_a_file_that_cannot_be_read_is_named(workspace: Workspace, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(a=b"1", b=b"2")
    Path("model/b").unlink()
    Path("model/b").mkdir()
    os.chmod("model/b", 0)
    if os.access("model/b", os.R_OK):  # root reads everything: /proc has files that nobody reads
        Path("model/b").rmdir()
        Path("model/b").symlink_to("/proc/self/mem")
    with pytest.raises(WebserviceException, match="cannot be read"):
        Model.register(workspace, "model", name)


def test_a_run_registers_what_is_in_its_history(
    workspace: Workspace, experiment: Experiment, tmp_path: Path, name: str
) -> None:
    folder(a=b"1", sub__b=b"2")
    run = experiment.start_logging(snapshot_directory=None)
    run.upload_folder("kept/model", "model")
    run.complete()
    assert set(laid_out(run.register_model(name, "kept/model"), tmp_path / "one")) == {"model/a", "model/sub/b"}
    assert set(laid_out(run.register_model(name, "kept/model/a"), tmp_path / "two")) == {"a"}
    with pytest.raises(ModelPathNotFoundException, match="It has kept/model/a, kept/model/sub/b"):
        run.register_model(name, "outputs/model")
    with pytest.raises(ModelPathNotFoundException):
        run.register_model(name)  # a path of the model's own name
    with pytest.raises(WebserviceException, match="no name for a model"):
        run.register_model("../x", "kept/model")
    assert run.get_details()["models"] == [f"{name}:1", f"{name}:2"]


def test_inside_a_run_what_was_just_written_is_registered(experiment: Experiment, tmp_path: Path, name: str) -> None:
    run = experiment.start_logging(snapshot_directory=None)
    Path("outputs").mkdir(exist_ok=True)
    Path("outputs/model.bin").write_bytes(b"first")
    assert laid_out(run.register_model(name, "outputs/model.bin"), tmp_path / "one") == {"model.bin": b"first"}
    Path("outputs/model.bin").write_bytes(b"second")
    assert laid_out(run.register_model(name, "outputs/model.bin"), tmp_path / "two") == {"model.bin": b"second"}
    Path(name).write_bytes(b"beside")
    assert laid_out(run.register_model(name), tmp_path / "three") == {name: b"beside"}
    with pytest.raises(ModelPathNotFoundException):
        run.register_model(name, "outputs/none")
    run.complete()
