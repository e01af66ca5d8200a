"""Tensorboard(runs): real TensorBoard shows what runs have logged, what a run logs meanwhile, and leaves nothing."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.support import frameworks

from runyard.contracts.formats.event_files import EventFile, Scalar
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.tensorboard.tensorboard import Tensorboard

TRAIN = """
import os, shutil, sys, time
go, first, second = sys.argv[1:]
os.makedirs("logs/train", exist_ok=True)
with open("logs/train/events.out.tfevents.1.host", "ab") as file:
    file.write(open(first, "rb").read())
    file.flush()
    while not os.path.exists(go):
        time.sleep(0.02)
    file.write(open(second, "rb").read())
"""


def events(path: Path, points: list[Scalar]) -> Path:
    with path.open("wb") as stream:
        EventFile(stream, 1.0).add(points)
    return path


@pytest.fixture
def with_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = frameworks.environment("tensorboard").parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def shown(address: str, run: str, tag: str) -> list[Any]:
    """The points of a tag, as TensorBoard's page asks for them."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}data/plugin/scalars/scalars?run={run}/train&tag={tag}", timeout=10) as response:
            found: list[Any] = json.load(response)
            return found
    except OSError:
        return []


def test_a_run_that_goes_on_is_followed(experiment: Experiment, tmp_path: Path, with_tensorboard: None) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    now = time.time()  # TensorBoard does not look again at files whose last point is a day old
    first = events(tmp_path / "first", [Scalar("loss", 0.5, 1, now)])
    second = events(tmp_path / "second", [Scalar("loss", 0.25, 2, now)])
    arguments = [str(tmp_path / "go"), str(first), str(second)]
    run = experiment.submit(ScriptRunConfig(str(project), script="train.py", arguments=arguments))
    board = Tensorboard(run, local_root=tmp_path / "mirror", port=0)
    address = board.start()
    try:
        deadline = time.monotonic() + 60
        while len(shown(address, run.id, "loss")) < 1:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        (tmp_path / "go").touch()
        while [point[1:] for point in shown(address, run.id, "loss")] != [[1, 0.5], [2, 0.25]]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with pytest.raises(UserErrorException, match="started already"):
            board.start()
    finally:
        board.stop()
    assert not shown(address, run.id, "loss"), "it has ended"
    run.wait_for_completion()
    mirrored = tmp_path / "mirror" / run.id / "train" / "events.out.tfevents.1.host"
    assert mirrored.read_bytes() == first.read_bytes() + second.read_bytes()


def test_without_tensorboard_the_error_says_what_to_install(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = experiment.start_logging(snapshot_directory=None)
    run.complete()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserErrorException, match="pip install tensorboard"):
        Tensorboard([run]).start()
