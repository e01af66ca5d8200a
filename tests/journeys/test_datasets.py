"""Datasets from their definition to a script: the seed's code word for word, and the ways in which data can be gone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.web_files import web_files

from azureml.core import Dataset, Experiment
from runyard.sdk.exceptions import ActivityFailedException

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

SEED = """
from azureml.core import Workspace, Experiment, Environment, ScriptRunConfig
from azureml.core.dataset import Dataset
ws = Workspace.from_config()
web_paths = ['http://yann.lecun.com/exdb/mnist/train-images-idx3-ubyte.gz',
             'http://yann.lecun.com/exdb/mnist/train-labels-idx1-ubyte.gz',
             'http://yann.lecun.com/exdb/mnist/t10k-images-idx3-ubyte.gz',
             'http://yann.lecun.com/exdb/mnist/t10k-labels-idx1-ubyte.gz']
dataset = Dataset.File.from_files(path=web_paths)
dataset = dataset.register(workspace=ws,
                           name='mnist-dataset',
                           description='training and test dataset',
                           create_new_version=True)
paths = dataset.to_path()
env = Environment('user-managed-env')
env.python.user_managed_dependencies = True
src = ScriptRunConfig(source_directory=script_folder,
                      script='train.py',
                      arguments=['--data-folder', dataset.as_mount(), '--batch-size', 64],
                      compute_target='local',
                      environment=env)
run = Experiment(ws, 'keras-mnist').submit(src)
"""

TRAIN = """
import argparse, glob, gzip, json, os
from azureml.core import Run

parser = argparse.ArgumentParser()
parser.add_argument('--data-folder')
parser.add_argument('--batch-size', type=int)
args = parser.parse_args()
run = Run.get_context()
found = glob.glob(os.path.join(args.data_folder, '**/train-images-idx3-ubyte.gz'), recursive=True)[0]
run.log('bytes', len(gzip.open(found).read()))
run.tag('folder', args.data_folder)
run.tag('inputs', json.dumps(dict(run.input_datasets)))
run.tag('files', ' '.join(sorted(os.listdir(args.data_folder))))
"""
NAMES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")

LOOK = """
import json, os, sys
from azureml.core import Run
place = sys.argv[1]
inside = {}
for folder, _, names in os.walk(place):
    for name in names:
        path = os.path.join(folder, name)
        inside[os.path.relpath(path, place)] = open(path).read()
if os.path.isfile(place):
    inside = open(place).read()
run = Run.get_context()
run.tag('seen', json.dumps(inside))
run.tag('link', str(any(os.path.islink(os.path.join(f, n)) for f, _, ns in os.walk(place) for n in ns)))
run.tag('variables', json.dumps([os.environ.get(n) == place for n in ('d', 'D', 'AZUREML_DATAREFERENCE_d')]))
"""


def mapped(yard: Yard, prefix: str, place: object) -> None:
    ws = yard.workspace
    ws.service.put(f"/api/workspaces/{ws.name}/data-map", {"prefix": prefix, "place": str(place)})


def test_the_seed_runs_with_its_address_mapped_to_a_folder(shared_yard: Yard, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}-ubyte.gz").write_bytes(gzip.compress(name.encode()))
    mapped(shared_yard, "http://yann.lecun.com/exdb/mnist/", tmp_path)
    made: dict[str, Any] = {"script_folder": str(shared_yard.project(TRAIN))}
    exec(SEED, made)
    run, dataset = made["run"], made["dataset"]
    details = run.wait_for_completion()
    assert details["status"] == "Completed"
    assert (dataset.name, dataset.description) == ("mnist-dataset", "training and test dataset")
    assert made["paths"][0] == "/http%3A/%2Fyann.lecun.com/exdb/mnist/train-images-idx3-ubyte.gz"
    assert run.get_metrics()["bytes"] == len("train-images-idx3")
    tags = run.get_tags()
    assert tags["files"].split() == sorted(f"{name}-ubyte.gz" for name in NAMES)
    assert json.loads(tags["inputs"]) == {f"input__{dataset.id[:8]}": tags["folder"]}
    assert f"'dataset': {{'id': '{dataset.id}'}}" in repr(details["inputDatasets"]), "as SDK v1 prints it"
    assert details["inputDatasets"][0]["dataset"].to_path() == dataset.to_path(), "and gives it"
    assert details["inputDatasets"][0]["consumptionDetails"]["mechanism"] == "Mount"
    seen = json.loads(run.get_properties()[f"runyard.data.input__{dataset.id[:8]}"])
    assert (seen["files"], seen["seen"][0]["from"]) == (4, str(tmp_path / "train-images-idx3-ubyte.gz"))
    assert seen["seen"][0]["source"] == "http://yann.lecun.com/exdb/mnist/train-images-idx3-ubyte.gz"


def test_modes_and_single_files(shared_yard: Yard, tmp_path: Path) -> None:
    """From a web server, and from a folder: mounted, downloaded, at a chosen path, and one file by itself."""
    (tmp_path / "x.txt").write_text("on disk")
    mapped(shared_yard, "http://gone.example/", tmp_path)
    with web_files(**{"a.txt": b"from the web"}) as web:
        one = Dataset.File.from_files(f"{web.url}/a.txt")
        on_disk = Dataset.File.from_files("http://gone.example/x.txt")
        place = tmp_path / "chosen"
        runs: list[Any] = [
            (one.as_named_input("d").as_mount(), "from the web", False),
            (one.take(1).as_named_input("d").as_download(), {"a.txt": "from the web"}, False),
            (on_disk.take(1).as_named_input("d").as_mount(), {"x.txt": "on disk"}, True),
            (on_disk.take(1).as_named_input("d").as_download("here"), {"x.txt": "on disk"}, False),
            (on_disk.take(1).as_named_input("d").as_mount(str(place)), {"x.txt": "on disk"}, True),
        ]
        experiment = Experiment(shared_yard.workspace, "modes")
        submitted = [(experiment.submit(shared_yard.config(LOOK, given)), *rest) for given, *rest in runs]
        for run, seen, linked in submitted:
            run.wait_for_completion()
            tags = run.get_tags()
            assert (json.loads(tags["seen"]), tags["link"]) == (seen, str(linked))
            assert json.loads(tags["variables"]) == [True, True, True]
    assert (tmp_path / "x.txt").read_text() == "on disk"


def test_an_address_that_is_gone_fails_the_run_in_preparing(shared_yard: Yard) -> None:
    with web_files() as web:
        dataset = Dataset.File.from_files(f"{web.url}/mnist/gone.gz")
        run = Experiment(shared_yard.workspace, "gone").submit(shared_yard.config(LOOK, dataset.as_mount()))
        with pytest.raises(ActivityFailedException) as failed:
            run.wait_for_completion()
    said = str(failed.value)
    assert f"{web.url}/mnist/gone.gz does not give its file: 404" in said
    assert f"runyard data map {web.url}/mnist/ " in said


LOOKS_UP = """
from azureml.core import Dataset, Run
ws = Run.get_context().experiment.workspace
found = Dataset.get_by_name(ws, "looked-up")
assert Dataset.get_by_id(ws, found.id).id == found.id
Dataset.File.from_files("http://made.example/x").register(ws, "made-by-a-run", create_new_version=True)
"""


def test_what_a_script_looks_up_and_registers_is_its_lineage(shared_yard: Yard) -> None:
    ws = shared_yard.workspace
    known = Dataset.File.from_files("http://known.example/x").register(ws, "looked-up", create_new_version=True)
    run = Experiment(ws, "lineage").submit(shared_yard.config(LOOKS_UP, ""))
    details = run.wait_for_completion()
    (used,), (made,) = details["inputDatasets"], details["outputDatasets"]
    assert (used["dataset"].id, used["consumptionDetails"]) == (known.id, {"type": "Reference"})
    assert made["outputType"] == "Reference"
    assert made["identifier"] == {
        "savedId": made["dataset"].id,
        "registeredId": "made-by-a-run",
        "registeredVersion": "1",
    }
