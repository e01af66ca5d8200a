"""Files of a run go up and come down whole, from inside it and from outside; so does its snapshot."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.exceptions import SnapshotException, UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_files_go_up_and_come_down(experiment: Experiment, where: str) -> None:
    run: Run = begin(experiment)
    if where == "outside":
        run.complete()
    Path("model.pt").write_bytes(b"weights" * 1000)
    Path("folder/sub").mkdir(parents=True)
    Path("folder/a.txt").write_text("a")
    Path("folder/sub/b.txt").write_text("b")
    run.upload_file("outputs/model.pt", "model.pt")
    Path("model.pt").write_bytes(b"changed since")
    run.upload_file("stream.txt", io.BytesIO(b"streamed"))
    run.upload_folder("up", "folder")
    run.upload_files(["x/1", "x/2"], ["folder/a.txt", "folder/sub/b.txt"])
    assert set(run.get_file_names()) >= {
        "outputs/model.pt",
        "stream.txt",
        "up/a.txt",
        "up/sub/b.txt",
        "x/1",
        "x/2",
    }
    run.download_file("outputs/model.pt")
    assert Path("model.pt").read_bytes() == b"weights" * 1000
    run.download_file("stream.txt", "new/place.txt")
    assert Path("new/place.txt").read_text() == "streamed"
    run.download_file("stream.txt", "new")
    assert Path("new/stream.txt").exists()
    run.download_files("up", "all")
    assert Path("all/up/sub/b.txt").read_text() == "b"
    run.download_files("up", "bare", append_prefix=False)
    assert Path("bare/sub/b.txt").read_text() == "b"
    run.download_files("x/", output_paths=["one", "two"])
    assert Path("two").read_text() == "b"
    assert not list(Path().rglob("*.part"))
    run.complete()


def test_files_that_are_not_there(experiment: Experiment) -> None:
    run = begin(experiment)
    with pytest.raises(UserErrorException):
        run.download_file("nowhere")
    with pytest.raises(UserErrorException, match="is not there"):
        run.upload_file("a", "nowhere")
    with pytest.raises(UserErrorException, match="relative path"):
        run.upload_file("../a", __file__)
    with pytest.raises(TypeError):
        run.upload_files(["a"], [])
    with pytest.raises(UserErrorException, match="datastores"):
        run.upload_file("a", __file__, datastore_name="blob")
    run.complete()


def test_snapshots_of_interactive_runs(experiment: Experiment) -> None:
    Path("code.py").write_text("x = 1")
    run = experiment.start_logging(outputs=False)
    assert run.get_properties()["ContentSnapshotId"] == run.get_snapshot_id()
    assert Path(run.restore_snapshot(path="back")).name == f"{run.get_snapshot_id()}.zip"
    with pytest.raises(SnapshotException, match="only one"):
        run.take_snapshot(".")
    run.complete()
    without = begin(experiment)
    with pytest.raises(SnapshotException, match="no snapshot"):
        without.get_snapshot_id()
    assert without.take_snapshot("code.py") == without.get_snapshot_id()
    without.complete()
