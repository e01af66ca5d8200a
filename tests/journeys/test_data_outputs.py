"""Data that runs write: it is in the datastore, it is a dataset, and the next run reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from azureml.core import Dataset, Experiment
from azureml.data import OutputFileDatasetConfig, TabularDataset
from azureml.data.data_reference import DataReference
from runyard.cli.output.summary import describe

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

PREPARE = """
import os, sys
from azureml.core import Run
place = sys.argv[1]
os.makedirs(os.path.join(place, 'deep'), exist_ok=True)
for number in range(int(sys.argv[2])):
    with open(os.path.join(place, 'deep', f'{number}.txt'), 'w') as file:
        file.write(str(number) * 10)
run = Run.get_context()
run.tag('same', str(os.path.samefile(run.output_datasets['prepared'], place)))
if len(sys.argv) > 3:
    sys.exit(3)
"""

READ = """
import glob, sys
from azureml.core import Run
found = sorted(glob.glob(sys.argv[1] + '/**/*.txt', recursive=True))
Run.get_context().tag('read', ' '.join(open(each).read() for each in found))
"""


def yard_document(yard: Yard, run_id: str) -> Any:
    return yard.workspace.service.get(f"/api/runs/{run_id}")


@pytest.mark.parametrize("mode", ["mount", "upload"])
def test_what_one_run_writes_is_what_the_next_one_reads(shared_yard: Yard, mode: str) -> None:
    output = OutputFileDatasetConfig("prepared", destination=("workspaceblobstore", "out/{run-id}/{output-name}"))
    output = output.register_on_complete(f"prepared-{mode}", tags={"by": "test"})
    output = output.as_upload() if mode == "upload" else output.as_mount()
    first = shared_yard.submit(PREPARE, output, 3)
    first.wait_for_completion()
    assert first.get_tags()["same"] == "True"
    made = Dataset.get_by_name(shared_yard.workspace, f"prepared-{mode}")
    assert made.version == 1
    assert sorted(made.to_path()) == ["/deep/0.txt", "/deep/1.txt", "/deep/2.txt"]
    (lineage,) = first.get_details()["outputDatasets"]
    assert lineage["identifier"]["savedId"] == made.id
    assert lineage["outputDetails"] == {"outputName": "prepared"}
    assert lineage["dataset"].to_path() == made.to_path()
    shown = "\n".join(describe(yard_document(shared_yard, first.id)))
    where = f"prepared: workspaceblobstore/out/{first.id}/prepared"
    assert f"{where}, dataset {made.id}, prepared-{mode} version 1" in shown
    second = shared_yard.submit(READ, output.as_input("given"))
    second.wait_for_completion()
    assert second.get_tags()["read"] == "0000000000 1111111111 2222222222"


def test_what_a_failed_run_has_written_is_kept_and_not_registered(shared_yard: Yard) -> None:
    output = OutputFileDatasetConfig("prepared").register_on_complete("never").as_upload()
    run = shared_yard.submit(PREPARE, output, 2, "fail")
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Failed"
    assert "never" not in shared_yard.workspace.datasets
    (lineage,) = run.get_details()["outputDatasets"]
    kept = Dataset.get_by_id(shared_yard.workspace, lineage["identifier"]["savedId"])
    assert sorted(kept.to_path()) == ["/deep/0.txt", "/deep/1.txt"]


def test_a_file_that_is_there_already_fails_the_run_with_its_name(shared_yard: Yard) -> None:
    output = OutputFileDatasetConfig("prepared", destination=("workspaceblobstore", "fixed")).as_upload()
    shared_yard.submit(PREPARE, output, 1).wait_for_completion()
    again = shared_yard.submit(PREPARE, output, 1)
    again.wait_for_completion(raise_on_error=False)
    error = again.get_details()["error"]
    assert error["code"] == "OutputNotDelivered"
    assert "deep/0.txt" in error["message"]
    shared_yard.submit(PREPARE, output.as_upload(overwrite=True), 1).wait_for_completion()


def test_data_references_are_read_and_written(shared_yard: Yard) -> None:
    store = shared_yard.workspace.get_default_datastore()
    config = shared_yard.config(PREPARE, "written", 2)
    reference = DataReference(store, "prepared", "old/way").as_upload("written")
    config.run_config.data_references = {"prepared": reference.to_config()}
    Experiment(shared_yard.workspace, "outputs").submit(config).wait_for_completion()
    read = shared_yard.submit(READ, store.path("old/way").as_mount())
    read.wait_for_completion()
    assert read.get_tags()["read"] == "0000000000 1111111111"


def test_a_killed_node_runner_s_output_is_delivered_by_its_successor(shared_yard: Yard) -> None:
    script = PREPARE + "import time; time.sleep(600)\n"
    output = OutputFileDatasetConfig("prepared").as_upload()
    run = shared_yard.submit(script, output, 2)
    shared_yard.wait(lambda: run.get_tags().get("same"), "the script has written")
    shared_yard.runner_of(run).kill()
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Failed"
    (lineage,) = run.get_details()["outputDatasets"]
    kept = Dataset.get_by_id(shared_yard.workspace, lineage["identifier"]["savedId"])
    assert sorted(kept.to_path()) == ["/deep/0.txt", "/deep/1.txt"]


def test_files_that_a_run_writes_become_a_table(shared_yard: Yard) -> None:
    script = "import sys; open(sys.argv[1] + '/a.csv', 'w').write('x,y\\n1,2\\n'); open(sys.argv[1] + '/b.txt', 'w')"
    output = OutputFileDatasetConfig("rows").read_delimited_files(path_glob="*.csv").register_on_complete("rows")
    shared_yard.submit(script, output).wait_for_completion()
    table = Dataset.get_by_name(shared_yard.workspace, "rows")
    assert isinstance(table, TabularDataset)
    assert "/rows/*.csv" in str(table)
