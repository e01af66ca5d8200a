"""A download is checked against its hash: what the server has damaged never becomes a file here."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pytest
from tests.sdk.run.interactive_run import MATRIX, begin

from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run


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
