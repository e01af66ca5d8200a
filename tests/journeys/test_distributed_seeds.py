"""The distributed jobs of the public how-to pages of SDK v1, word for word, on a cluster that is made here.

The pages' training scripts are not part of them: the examples of this project stand in, with the pages' file names.
"""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.journeys.conftest import Yard
from tests.support.frameworks import environment
from tests.support.seeds import DISTRIBUTED_DATA_PARALLEL, FIND_OR_MAKE_THE_CLUSTER, TF_DISTRIBUTE
from tests.support.web_files import web_files

from azureml.core import Environment, Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "distributed"

HOROVOD = "RUNYARD_TEST_HOROVOD"
"""Names a Python that has horovod, which no package index has for the torch of today: docs/distributed.md."""

pytestmark = pytest.mark.xdist_group("gangs-local")

IMPORTS = """
import os
import shutil

from azureml.core.workspace import Workspace
from azureml.core import Experiment
from azureml.core import Environment

from azureml.core.compute import ComputeTarget, AmlCompute
from azureml.core.compute_target import ComputeTargetException

ws = Workspace.from_config()
"""

CLUSTER = 'cluster_name = "gpu-cluster"\n\n' + FIND_OR_MAKE_THE_CLUSTER

SUBMIT = """
run = Experiment(ws, name='pytorch-birds').submit(src)
run.wait_for_completion(show_output=True)
"""


class Page:
    """A reader who types a page's code into one notebook, cell by cell."""

    def __init__(self, yard: Yard, capsys: pytest.CaptureFixture[str]) -> None:
        self.yard, self.capsys = yard, capsys
        self.names: dict[str, Any] = {}

    def type(self, code: str) -> str:
        """Run a cell; what it prints comes back."""
        self.capsys.readouterr()
        exec(textwrap.dedent(code), self.names)
        return self.capsys.readouterr().out

    def project(self, example: str, script: str) -> str:
        """A project folder that holds an example under the name that the page gives its script."""
        folder = self.yard.folder / "project"
        folder.mkdir()
        shutil.copy(EXAMPLES / example, folder / script)
        return str(folder)

    @property
    def run(self) -> Run:
        run: Run = self.names["run"]
        return run

    def log(self, rank: int) -> str:
        texts: dict[str, str] = self.run.get_details_with_logs()["logFiles"]
        return texts[f"user_logs/std_log_process_{rank}.txt"]


@pytest.fixture
def page(yard: Yard, capsys: pytest.CaptureFixture[str]) -> Page:
    page = Page(yard, capsys)
    page.type(IMPORTS)
    return page


def installed(framework: str) -> Environment:
    """In place of the pages' environments, whose packages of 2020 run on no machine of today."""
    return with_python(str(environment(framework)))


def with_python(interpreter: str) -> Environment:
    made = Environment("installed")
    made.python.user_managed_dependencies = True
    made.python.interpreter_path = interpreter
    return made


def test_the_cluster_is_made_once_and_then_found(page: Page) -> None:
    said = page.type(CLUSTER)
    assert "Creating a new compute target..." in said
    target = page.names["compute_target"]
    assert type(target).__name__ == "AmlCompute"
    assert target.name == "gpu-cluster"
    status = target.get_status()
    assert (status.allocation_state, status.scale_settings.maximum_node_count) == ("Steady", 4)
    said = page.type(CLUSTER)
    assert "Found existing compute target" in said
    assert "Creating" not in said
    assert type(page.names["compute_target"]).__name__ == "AmlCompute"


def test_horovods_mpi_job(page: Page) -> None:
    page.type(CLUSTER)
    page.names["project_folder"] = page.project("mpi_train.py", "pytorch_horovod_mnist.py")
    page.names["pytorch_env"] = installed("openmpi")
    page.type(
        """
from azureml.core import ScriptRunConfig
from azureml.core.runconfig import MpiConfiguration

src = ScriptRunConfig(source_directory=project_folder,
                      script='pytorch_horovod_mnist.py',
                      compute_target=compute_target,
                      environment=pytorch_env,
                      distributed_job_config=MpiConfiguration(node_count=2))
"""
    )
    said = page.type(SUBMIT)
    assert "Execution Summary" in said
    metrics = page.run.get_metrics()
    assert metrics["world size"] == 2
    assert metrics["slope of rank 0"] == metrics["slope of rank 1"]
    assert abs(metrics["slope of rank 0"] - 3) < 0.2
    for rank in range(2):
        assert f"rank {rank} of 2" in page.log(rank)


PYTHONS = [
    pytest.param("torch", 2, id="layer"),
    *(
        pytest.param(
            HOROVOD,
            processes,
            marks=pytest.mark.skipif(HOROVOD not in os.environ, reason=f"{HOROVOD} names no Python that has horovod"),
        )
        for processes in (1, 2)
    ),
]


@pytest.mark.parametrize(("python", "processes"), PYTHONS)
def test_horovods_own_script(page: Page, python: str, processes: int) -> None:
    """With nothing built, on the layer; and with the real one where there is a Python that has it."""
    page.type(CLUSTER)
    page.names["project_folder"] = page.project("horovod_train.py", "pytorch_horovod_mnist.py")
    page.names["pytorch_env"] = installed("torch") if python == "torch" else with_python(os.environ[HOROVOD])
    page.names["processes"] = processes
    page.type(
        """
from azureml.core import ScriptRunConfig
from azureml.core.runconfig import MpiConfiguration

src = ScriptRunConfig(source_directory=project_folder,
                      script='pytorch_horovod_mnist.py',
                      compute_target=compute_target,
                      environment=pytorch_env,
                      distributed_job_config=MpiConfiguration(process_count_per_node=processes, node_count=2))
"""
    )
    page.type(SUBMIT)
    metrics, size = page.run.get_metrics(), 2 * processes
    assert metrics["world size"] == size
    assert metrics["loss"][-1] < metrics["loss"][0] / 2
    assert len({metrics[f"weight of rank {rank}"] for rank in range(size)}) == 1
    for rank in range(size):
        assert f"rank {rank} of {size}, {rank % processes} of {processes} on its node" in page.log(rank)
    assert "outputs/model.pt" in page.run.get_file_names()
    said = page.run.get_properties().get("runyard.environment.horovod") or ""
    assert ("Runyard's layer" in said) is (python == "torch")


WORD2VEC = """
from azureml.core import ScriptRunConfig
from azureml.core.runconfig import MpiConfiguration

src = ScriptRunConfig(source_directory=project_folder,
                      script='tf_horovod_word2vec.py',
                      arguments=['--input_data', dataset.as_mount()],
                      compute_target=compute_target,
                      environment=tf_env,
                      distributed_job_config=MpiConfiguration(node_count=2))
"""


def test_horovods_tensorflow_job(page: Page) -> None:
    """With a script that learns which words are near each other, in the style of TensorFlow 1."""
    page.type(CLUSTER)
    page.names["project_folder"] = page.project("../../tests/support/horovod_word2vec.py", "tf_horovod_word2vec.py")
    page.names["tf_env"] = installed("tensorflow")
    with web_files(**{"words.txt": b"the cat sat on the mat the dog sat on the log " * 40}) as web:
        page.names["web_paths"] = [f"{web.url}/words.txt"]
        page.type("from azureml.core.dataset import Dataset\ndataset = Dataset.File.from_files(path=web_paths)")
        page.type(WORD2VEC)
        page.type(SUBMIT)
    metrics = page.run.get_metrics()
    assert metrics["ranks"] == 2
    assert metrics["loss"][-1] < metrics["loss"][0]
    assert metrics["mark of rank 0"] == metrics["mark of rank 1"], "the ranks have trained different models"


def test_distributed_data_parallel(page: Page) -> None:
    page.type(CLUSTER)
    page.names["project_folder"] = page.project("pytorch_train.py", "pytorch_mnist.py")
    page.names["pytorch_env"] = installed("torch")
    page.type(DISTRIBUTED_DATA_PARALLEL)
    page.type(SUBMIT)
    metrics = page.run.get_metrics()
    assert metrics["world size"] == 2
    for rank in range(2):
        assert f"rank {rank} of 2" in page.log(rank)
        assert metrics[f"loss of rank {rank}"][-1] < metrics[f"loss of rank {rank}"][0]
    assert "outputs/model.pt" in page.run.get_file_names()


def test_tf_distribute(page: Page, tmp_path: Path) -> None:
    page.type(CLUSTER)
    page.names["source_dir"] = page.project("tensorflow_train.py", "train.py")
    page.names["tf_env"] = installed("tensorflow")
    page.type(TF_DISTRIBUTE)
    page.type(SUBMIT)
    metrics = page.run.get_metrics()
    assert metrics["workers"] == 2
    assert metrics["loss of worker 0"] == metrics["loss of worker 1"], "the workers have trained different models"
    assert len(metrics["loss of worker 0"]) == 30
    page.run.download_file("outputs/keras-model/model.json", str(tmp_path / "model.json"))
    assert abs(json.loads((tmp_path / "model.json").read_text())["weight"] - 3) < 0.1


def test_parameter_servers_end_when_the_chief_is_done(page: Page, tmp_path: Path) -> None:
    page.type(CLUSTER)
    page.names["source_dir"] = page.project("parameter_server_train.py", "train.py")
    page.names["tf_env"] = installed("tensorflow")
    page.type(
        """
from azureml.core import ScriptRunConfig
from azureml.core.runconfig import TensorflowConfiguration

distr_config = TensorflowConfiguration(worker_count=2, parameter_server_count=1)

src = ScriptRunConfig(source_directory=source_dir,
                      script='train.py',
                      compute_target=compute_target,
                      environment=tf_env,
                      distributed_job_config=distr_config)
"""
    )
    page.type(SUBMIT)
    assert page.run.get_status() == "Completed"
    assert "the chief has led" in page.log(0)
    assert "worker 0 is there" in page.log(1)
    assert "ps 0 is there" in page.log(2)
    losses = page.run.get_metrics()["loss"]
    assert losses[-1] < losses[0] / 10
    page.run.download_file("outputs/model.json", str(tmp_path / "model.json"))
    assert abs(json.loads((tmp_path / "model.json").read_text())["weight"] - 3) < 0.1
