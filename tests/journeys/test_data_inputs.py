"""Data on its way to runs, with kills in the middle: fetched once, never half, and nothing stays mounted."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.fuse import needs_fuse
from tests.support.web_files import WebFiles, web_files

from azureml.core import Dataset, Environment, Experiment, ScriptRunConfig
from azureml.core.runconfig import PyTorchConfiguration
from runyard.client.data import mounts
from runyard.sdk.exceptions import ActivityFailedException
from runyard.system.processes import alive

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

    from azureml.core import Run

READ = """
import os, sys
from azureml.core import Run
place = sys.argv[1]
found = b"".join(open(os.path.join(place, name), "rb").read() for name in sorted(os.listdir(place)))
run = Run.get_context()
run.tag("bytes", str(len(found)))
run.tag("link", str(os.path.islink(os.path.join(place, "a"))))
"""

WAIT = """
import os, sys, time
place, go = sys.argv[1:3]
print("begun", os.listdir(place), flush=True)
open(go + ".begun", "w").close()
while not os.path.exists(go):
    time.sleep(0.02)
print(len(open(os.path.join(place, "a"), "rb").read()))
"""


@pytest.fixture
def web() -> Iterator[WebFiles]:
    with web_files(a=b"a" * 100_000, b=b"b" * 50_000) as served:
        yield served


def given(web: WebFiles) -> Any:
    return Dataset.File.from_files([f"{web.url}/a", f"{web.url}/b"]).as_named_input("d").as_mount()


def gets(web: WebFiles) -> list[str]:
    return [path for method, path, _ in web.requests if method == "GET"]


def mounted(yard: Yard) -> list[str]:
    return [place for _, place in mounts._mounts() if str(yard.home) in place]


def lazy_above(yard: Yard, size: str) -> None:
    ws = yard.workspace
    ws.service.put(f"/api/workspaces/{ws.name}/settings/data.lazy-above", {"value": size})


def test_runs_and_nodes_fetch_once(shared_yard: Yard, web: WebFiles) -> None:
    """Two runs at once, then a gang of two nodes with two ranks each, all from one cache."""
    lazy_above(shared_yard, "none")
    runs = [shared_yard.submit(READ, given(web)) for _ in range(2)]
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    config = ScriptRunConfig(
        str(shared_yard.project(READ)),
        "train.py",
        [given(web)],
        compute_target="local",
        environment=environment,
        distributed_job_config=PyTorchConfiguration("Gloo", process_count=4, node_count=2),
    )
    runs.append(Experiment(shared_yard.workspace, "gang").submit(config))
    for run in runs:
        run.wait_for_completion()
        assert (run.get_tags()["bytes"], run.get_tags()["link"]) == ("150000", "True")
    assert sorted(gets(web)) == ["a", "b"]
    ways = re.findall(r"(\d+) (?:fetched|from the cache)", log_of(runs[-1]))  # whoever of them was first
    assert sum(map(int, ways)) == 2


def test_a_killed_runner_leaves_what_it_had_and_the_next_goes_on(shared_yard: Yard, web: WebFiles) -> None:
    lazy_above(shared_yard, "none")
    web.hold = threading.Event()
    run = shared_yard.submit(READ, given(web))
    shared_yard.wait(lambda: len(gets(web)) == 2, "the transfers")
    shared_yard.runner_of(run).kill()
    with pytest.raises(ActivityFailedException, match="node runner of this run"):
        run.wait_for_completion()
    web.hold.set()
    again = shared_yard.submit(READ, given(web))
    again.wait_for_completion()
    assert again.get_tags()["bytes"] == "150000"


def test_a_run_that_is_cancelled_while_it_fetches_ends_at_once(shared_yard: Yard, web: WebFiles) -> None:
    lazy_above(shared_yard, "none")
    web.hold = threading.Event()
    run = shared_yard.submit(READ, given(web))
    shared_yard.wait(lambda: gets(web), "the transfer")
    run.cancel()
    shared_yard.wait(lambda: run.get_status() == "Canceled", "the end")
    web.hold.set()


@needs_fuse
def test_what_is_too_large_is_mounted_lazily(shared_yard: Yard, web: WebFiles) -> None:
    lazy_above(shared_yard, "100KB")
    run = shared_yard.submit(READ, given(web))
    run.wait_for_completion()
    assert (run.get_tags()["bytes"], run.get_tags()["link"]) == ("150000", "False")
    assert "2 mounted lazily (150,000 bytes" in log_of(run)
    assert mounted(shared_yard) == []
    second = shared_yard.submit(READ, given(web))
    second.wait_for_completion()
    assert sorted(gets(web)) == ["a", "b"], "what was read is in the cache"


@needs_fuse
def test_a_killed_mount_fails_the_run_and_is_named(shared_yard: Yard, web: WebFiles, tmp_path: Path) -> None:
    run = waiting(shared_yard, web, tmp_path)
    [(source, _)] = [each for each in mounts._mounts() if str(shared_yard.home) in each[1]]
    os.kill(int(source.split(":")[2]), signal.SIGKILL)
    shared_yard.wait(lambda: not alive(int(source.split(":")[2])), "its end")
    (tmp_path / "go").touch()
    with pytest.raises(ActivityFailedException, match="mount of the input 'd'"):
        run.wait_for_completion()
    assert mounted(shared_yard) == []


@needs_fuse
def test_nothing_stays_mounted_after_a_kill_of_runner_and_mount(
    shared_yard: Yard, web: WebFiles, tmp_path: Path
) -> None:
    run = waiting(shared_yard, web, tmp_path)
    [(source, _)] = [each for each in mounts._mounts() if str(shared_yard.home) in each[1]]
    shared_yard.runner_of(run).suspend()  # so that the mount does not see its end before
    os.kill(int(source.split(":")[2]), signal.SIGKILL)
    shared_yard.runner_of(run).kill()
    with pytest.raises(ActivityFailedException, match="node runner of this run"):
        run.wait_for_completion()
    shared_yard.wait(lambda: mounted(shared_yard) == [], "the end of the mount")


def waiting(yard: Yard, web: WebFiles, tmp_path: Path) -> Run:
    """A run that has a lazy mount, and waits for a file before it reads from it."""
    lazy_above(yard, "1KB")
    run = yard.submit(WAIT, given(web), str(tmp_path / "go"))
    yard.wait(lambda: (tmp_path / "go.begun").exists(), "the script")
    return run


def log_of(run: Run) -> str:
    with tempfile.TemporaryDirectory() as folder:
        run.download_file("system_logs/runner.log", f"{folder}/log")
        return Path(folder, "log").read_text()


MANY = """
import os, sys
from azureml.core import Run
place = sys.argv[1]
names = [name for _, _, files in os.walk(place) for name in files]
run = Run.get_context()
run.tag("files", str(len(names)))
run.tag("place", place)
run.tag("first", open(os.path.join(place, "d0", "0000.txt")).read())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a bind mount needs root")
def test_a_folder_of_this_disk_is_shown_and_nothing_of_it_can_be_changed(shared_yard: Yard, tmp_path: Path) -> None:
    """Without links, read-only also for root, recorded like any input, and gone with the run, however it ends."""
    from azureml.core import Datastore

    data = tmp_path / "data"
    (data / "d0").mkdir(parents=True)
    for number in range(1_000):
        (data / "d0" / f"{number:04d}.txt").write_text("x")
    store = Datastore.register_folder(shared_yard.workspace, "shown", str(data))
    dataset = Dataset.File.from_files((store, "**")).as_named_input("d")
    script = MANY + "import shutil\nshutil.rmtree(place, ignore_errors=True)\nopen(place + '/new', 'w')\n"
    run = shared_yard.submit(script, dataset.as_mount())
    with pytest.raises(ActivityFailedException, match="Read-only file system"):
        run.wait_for_completion()
    tags, record = run.get_tags(), json.loads(str(run.get_properties()["runyard.data.d"]))
    assert (tags["files"], tags["first"], record["files"], record["bytes"]) == ("1000", "x", 1000, 1000)
    assert "inputs/d.jsonl.gz" in run.get_file_names()
    assert "shown read-only" in log_of(run)
    at = tmp_path / "chosen"
    run = shared_yard.submit(WAIT.replace('"a"', '"d0/0000.txt"'), dataset.as_mount(str(at)), str(tmp_path / "go"))
    shared_yard.wait(lambda: (tmp_path / "go.begun").exists(), "the script")
    assert len(shown(shared_yard)) == 1
    assert os.listdir(at) == ["d0"]
    shared_yard.runner_of(run).kill()
    with pytest.raises(ActivityFailedException, match="node runner of this run"):
        run.wait_for_completion()
    shared_yard.wait(lambda: shown(shared_yard) == [], "the end of the mount")
    assert len(os.listdir(data / "d0")) == 1_000, "nothing of the datastore went with the run's folder"


def shown(yard: Yard) -> list[str]:
    return [place for place in mounts.mount_points() if str(yard.home) in place]


def test_the_links_of_a_large_dataset_are_made_once(shared_yard: Yard, tmp_path: Path) -> None:
    """A second run takes the links of the first; a changed file is noticed, and all of them are made anew."""
    from azureml.core import Datastore

    ws = shared_yard.workspace
    for number in range(1_200):
        folder = tmp_path / f"d{number % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number:04d}.txt").write_text("x")
    store = Datastore.register_folder(ws, "many", str(tmp_path))
    dataset = Dataset.File.from_files((store, "d*/**")).as_named_input("d").as_mount()
    seen = []
    for number in range(3):
        if number == 2:
            (tmp_path / "d0" / "0000.txt").write_text("changed")
        run = shared_yard.submit(MANY, dataset)
        run.wait_for_completion()
        tags = run.get_tags()
        assert tags["files"] == "1200"
        assert tags["first"] == ("changed" if number == 2 else "x")
        seen.append((str(tags["place"]), json.loads(str(run.get_properties()["runyard.data.d"])), log_of(run)))
        assert run.get_file_names().count("inputs/d.jsonl.gz") == 1
    (first, record, log), (second, again, later), (third, changed, last) = seen
    assert first == second != third
    assert record == again
    assert record["digest"] != changed["digest"]
    assert "1,200 linked" in log
    assert "by the links of an earlier run" in later
    assert "1,200 linked" in last
    assert oct((Path(third) / "d0").stat().st_mode & 0o777) == "0o555"


def test_a_server_that_is_killed_during_a_transfer_is_not_needed_for_it(shared_yard: Yard, web: WebFiles) -> None:
    lazy_above(shared_yard, "none")
    web.hold = threading.Event()
    run = shared_yard.submit(READ, given(web))
    shared_yard.wait(lambda: len(gets(web)) == 2, "the transfers")
    shared_yard.kill_server()
    web.hold.set()
    assert shared_yard.workspace.get_run(run.id).get_status() in ("Preparing", "Running", "Completed")
    run.wait_for_completion()
    assert run.get_tags()["bytes"] == "150000"
    assert sorted(gets(web)) == ["a", "b"], "nothing was fetched twice"
