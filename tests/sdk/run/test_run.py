"""Interactive runs against a real server: what is logged comes back in SDK v1's shapes, and every end is told."""

from __future__ import annotations

import io
import math
import subprocess
import sys
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.exceptions import AzureMLException, SnapshotException, UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run, get_run
from runyard.sdk.workspace.workspace import Workspace

MATRIX: dict[str, Any] = {
    "schema_type": "confusion_matrix",
    "schema_version": "1.0.0",
    "data": {"class_labels": ["a"], "matrix": [[1]]},
}


def begin(experiment: Experiment, **options: Any) -> Run:
    return experiment.start_logging(**{"snapshot_directory": None, "outputs": False, **options})


def test_metrics_come_back_in_their_shapes(experiment: Experiment) -> None:
    run = begin(experiment)
    run.log("once", 0.5, description="what it is")
    for step in range(3):
        run.log("often", step, step=step)
    run.log("nan", math.nan)
    run.log("text", "good")
    run.log_list("one", [7])
    run.log_list("list", [1, 2.5])
    run.log_list("list", [3])
    run.log_row("row", x=1, y="a")
    run.log_table("table", {"x": [1, 2], "y": [3, 4]})
    run.log_row("table", x=5, y=6)
    run.log_confusion_matrix("matrix", MATRIX)
    told = run.get_metrics()
    assert math.isnan(told.pop("nan"))
    artifact = told.pop("matrix")
    assert told == {
        "once": 0.5,
        "often": [0, 1, 2],
        "text": "good",
        "one": 7,
        "list": [1.0, 2.5, 3],
        "row": {"x": 1, "y": "a"},
        "table": {"x": [1, 2, 5], "y": [3, 4, 6]},
    }
    assert artifact.startswith(f"aml://artifactId/ExperimentRun/dcid.{run.id}/matrix_")
    assert run.get_metrics("often") == {"often": [0, 1, 2]}
    assert run.get_metrics("no such") == {}
    assert b'"class_labels"' in run.get_metrics("matrix", populate=True)["matrix"].content
    run.complete()
    assert run.get_metrics(recursive=True)[run.id]["once"] == 0.5


def test_images_are_files_of_the_run(experiment: Experiment) -> None:
    from matplotlib.figure import Figure

    run = begin(experiment)
    figure = Figure()
    figure.subplots().plot([1])
    run.log_image("plot", plot=figure)
    run.log_image("plot", plot=figure)
    first, second = run.get_metrics()["plot"]
    assert first != second
    names = run.get_file_names()
    assert {first.rpartition("/")[2], second.rpartition("/")[2]} <= set(names)
    run.complete()


@pytest.mark.parametrize(
    "call",
    [
        lambda run: run.log_table("t", {"x": [1], "y": [1, 2]}),
        lambda run: run.log_row("r", x=[1]),
        lambda run: run.log_list("l", [[1]]),
        lambda run: run.log_table("t", [1]),
        lambda run: run.log_row("r"),
        lambda run: run.log("v", [1]),
        lambda run: run.log_image("i"),
    ],
)
def test_what_a_metric_cannot_hold_is_refused(experiment: Experiment, call: Any) -> None:
    run = begin(experiment)
    with pytest.raises(AzureMLException):
        call(run)
    assert run.get_metrics() == {}
    run.complete()


def test_tags_and_properties(experiment: Experiment, caplog: pytest.LogCaptureFixture) -> None:
    run = begin(experiment, tags={"from": "start"})
    run.tag("a", 1)
    run.tag("b")
    run.set_tags({"c": "3"})
    run.remove_tags(["c"])
    run.add_properties({"p": "1"})
    assert run.get_tags() == {"from": "start", "a": "1", "b": None}
    run.add_properties({"p": "2"})
    assert run.get_properties() == {"p": "1"}
    assert "The property 'p' stays '1'" in caplog.text
    assert "The tag 'a' has a value of the type int" in caplog.text
    run.complete()
    outside = get_run(experiment, run.id)
    outside.tag("d", "4")
    assert outside.remove_tags("a") == {"from": "start", "b": None, "d": "4"}
    with pytest.raises(UserErrorException):
        outside.add_properties({"p": "2"})
    assert [found.id for found in experiment.get_runs(tags={"d": "4"})] == [run.id]


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


def test_what_the_server_has_damaged_is_refused(experiment: Experiment, server_home: Path) -> None:
    run = begin(experiment)
    weights = uuid.uuid4().hex.encode() * 1000
    run.upload_file("outputs/model.pt", io.BytesIO(weights))
    run.log_confusion_matrix("matrix", {**MATRIX, "data": {"class_labels": [uuid.uuid4().hex], "matrix": [[1]]}})
    Path("code").mkdir()
    Path("code/train.py").write_text(uuid.uuid4().hex)
    run.take_snapshot("code")
    run.complete()
    run.download_file("outputs/model.pt", "good")
    objects = [path for path in (server_home / "objects").glob("??/*") if _is_mine(path, run)]
    assert objects
    for path in objects:
        path.write_bytes(b"X" + path.read_bytes()[1:])
    for call in (
        lambda: run.download_file("outputs/model.pt", "bad/model.pt"),
        lambda: run.download_files("outputs", "bad"),
        lambda: run.get_metrics(populate=True),
        lambda: run.restore_snapshot(path="bad"),
    ):
        with pytest.raises(AzureMLException, match=r"damaged.*runyard doctor --deep"):
            call()
    assert not [path for path in Path("bad").rglob("*") if path.is_file()]


def _is_mine(path: Path, run: Run) -> bool:
    """Whether an object of the shared server belongs to files of this run, or to its snapshot."""
    service = run._service
    names = {file["hash"] for file in service.get(f"/api/runs/{run.id}/files")["files"]}
    with service.stream(f"/api/snapshots/{run.get_snapshot_id()}") as answer:
        text = b"".join(answer).decode()
    digest = path.parent.name + path.name
    return digest in names or digest in text


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


def test_a_with_block_keeps_output_logs_and_outputs(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    with begin(experiment, outputs=None) as run:
        print("shown and kept")
        print("also this", file=sys.stderr)
        Path("logs").mkdir()
        Path("logs/mine.txt").write_text("my log")
        Path("outputs/model.txt").write_text("model")
    assert run.get_status() == "Completed"
    assert set(run.get_file_names()) == {"logs/user_log.txt", "logs/mine.txt", "outputs/model.txt"}
    run.download_file("logs/user_log.txt", "kept.txt")
    assert Path("kept.txt").read_text() == "shown and kept\nalso this\n"
    assert "shown and kept" in capsys.readouterr().out
    assert run.get_details_with_logs()["logFiles"]["logs/mine.txt"] == "my log"
    assert [Path(path).name for path in run.get_all_logs()] == ["mine.txt", "user_log.txt"]


def test_the_ends_of_a_with_block(experiment: Experiment) -> None:
    with begin(experiment) as left:
        sys.exit(0)
    assert left.get_status() == "Completed"
    with pytest.raises(ValueError, match="boom"), begin(experiment) as failed:
        raise ValueError("boom")
    error = failed.get_details()["error"]
    assert failed.get_status() == "Failed"
    assert (error["exception"]["type"], error["exception"]["message"]) == ("ValueError", "boom")
    assert error["exception"]["frames"][-1]["code"] == 'raise ValueError("boom")'
    assert error["error"]["message"] == "ValueError: boom"
    with pytest.raises(SystemExit), begin(experiment) as exited:
        sys.exit(3)
    assert exited.get_status() == "Failed"


@pytest.mark.parametrize("run_id", [None, "", 3])
def test_a_run_needs_an_id(experiment: Experiment, run_id: object) -> None:
    with pytest.raises(UserErrorException, match=r"is no id of one\. experiment\.submit"):
        Run(experiment, run_id)  # type: ignore[arg-type]


def test_fail_and_cancel(experiment: Experiment) -> None:
    run = begin(experiment)
    with pytest.raises(TypeError):
        run.fail(error_details=3)  # type: ignore[arg-type]
    run.fail("out of luck", error_code="Mine")
    assert run.status == "Failed"
    assert (run.get_details()["error"]["code"], run.get_details()["error"]["message"]) == ("Mine", "out of luck")
    canceled = begin(experiment)
    canceled.cancel()
    assert canceled.get_status() == "Canceled"


def test_children(experiment: Experiment) -> None:
    run = begin(experiment, name="top")
    with run.child_run("kid") as child:
        child.log("a", 1)
        grandchild = child.child_run()
        grandchild.log("b", 2)
        grandchild.complete()
    assert child.name == "top>kid"
    assert child.parent == run
    assert child.get_status() == "Completed"
    made = run.create_children(tag_key="fold", tag_values=[1, 2])
    assert [each.get_tags() for each in made] == [{"fold": "1"}, {"fold": "2"}]
    assert made[0].get_status() == "NotStarted"
    made[0].start()
    assert made[0].get_status() == "Running"
    made[0].log("c", 3)
    made[0].complete()
    assert {each.id for each in run.get_children()} == {child.id, made[0].id, made[1].id}
    assert grandchild.id in {each.id for each in run.get_children(recursive=True)}
    assert [each.id for each in run.get_children(tags={"fold": "1"})] == [made[0].id]
    metrics = run.get_metrics(recursive=True)
    assert metrics == {child.id: {"a": 1}, grandchild.id: {"b": 2}, made[0].id: {"c": 3}}
    run.complete()
    assert [each.id for each in experiment.get_runs()] == [run.id]
    assert len(list(experiment.get_runs(include_children=True))) == 5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"count": 0},
        {"count": 101},
        {"count": 1, "tag_key": "a", "tag_values": ["b"]},
        {"tag_key": "a"},
        {"count": True},
    ],
)
def test_children_in_numbers_that_make_no_sense(experiment: Experiment, options: dict[str, Any]) -> None:
    run = begin(experiment)
    with pytest.raises(UserErrorException):
        run.create_children(**options)
    run.complete()


def test_logging_into_a_run_from_outside(workspace: Workspace, experiment: Experiment) -> None:
    run = begin(experiment)
    run.complete()
    outside = Run.get(workspace, run.id)
    outside.log("later", 1)
    outside.flush()
    assert Run.get(workspace, run.id).get_metrics() == {"later": 1}
    assert run.get_status() == "Completed"


def test_a_process_that_dies_leaves_its_metrics_and_a_failed_run(workspace: Workspace, experiment: Experiment) -> None:
    script = (
        "import os, signal\n"
        "from runyard.sdk.workspace.workspace import Workspace\n"
        "from runyard.sdk.experiment import Experiment\n"
        f"run = Experiment(Workspace.from_config(), {experiment.name!r}).start_logging(snapshot_directory=None)\n"
        "for i in range(1000): run.log('i', i)\n"
        "print(run.id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert died.returncode == -9, died.stderr
    run = Run.get(workspace, died.stdout.strip())
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert "ended without completing" in details["error"]["message"]
    assert run.get_metrics() == {"i": list(range(1000))}


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


def test_what_a_run_tells_of_itself(workspace: Workspace, experiment: Experiment) -> None:
    run_id = str(uuid.uuid4())
    run = begin(experiment, run_id=run_id, display_name="first")
    assert (run.id, run.number, run.display_name) == (run_id, 1, "first")
    run.display_name = "best"
    run.description = "the best so far"
    again = workspace.get_run(run_id)
    assert (again.display_name, again.description) == ("best", "the best so far")
    assert again == run
    assert (
        str(run) == f"Run(Experiment: {experiment.name},\nId: {run_id},\nType: azureml.interactive,\nStatus: Running)"
    )
    assert "<a href=" in run._repr_html_()
    assert run.get_portal_url().startswith("http")
    with pytest.raises(UserErrorException):
        begin(experiment, run_id=run_id)
    with pytest.raises(UserErrorException, match="1 to 200"):
        begin(experiment, run_id="../x")
    run.complete()
    details = run.get_details()
    assert set(details) >= {"runId", "status", "startTimeUtc", "endTimeUtc", "properties", "logFiles", "submittedBy"}
    assert "error" not in details


def test_the_addresses_of_the_logs_open_without_a_token(experiment: Experiment) -> None:
    with begin(experiment) as run:
        print("hello from the block")
    with urllib.request.urlopen(run.get_details()["logFiles"]["logs/user_log.txt"], timeout=60) as answer:
        assert answer.read() == b"hello from the block\n"


def test_a_data_frame_is_told_how_to_become_a_table(experiment: Experiment) -> None:
    class Frame:
        def to_dict(self, orient: str) -> dict[str, list[int]]:
            return {"x": [1, 2]}

    run = begin(experiment)
    with pytest.raises(AzureMLException, match="to_dict"):
        run.log_table("frame", Frame())  # type: ignore[arg-type]
    run.log_table("frame", Frame().to_dict("list"))
    run.complete()


def test_what_this_version_lacks_says_so(experiment: Experiment) -> None:
    run = begin(experiment)
    with pytest.raises(UserErrorException, match="no model registry"):
        run.register_model("m")
    with pytest.raises(UserErrorException, match="no key vault"):
        run.get_secrets(["s"])
    with pytest.raises(UserErrorException, match="environment"):
        run.get_environment()
    run.complete()


def test_a_type_of_ones_own(workspace: Workspace, experiment: Experiment) -> None:
    class Mine(Run):
        pass

    run = begin(experiment)
    run.complete()
    Run.add_type_provider("azureml.interactive", lambda experiment, document: Mine(experiment, document["id"]))
    try:
        assert type(Run.get(workspace, run.id)) is Mine
    finally:
        from runyard.sdk.run import types

        del types._factories["azureml.interactive"]


def test_a_run_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(UserErrorException, match="no-such-run"):
        Run.get(workspace, "no-such-run")
