"""The estimators of a public how-to page of SDK v1, word for word, on a cluster that is made here.

Their packages of 2020 run on no machine of today: the workspace maps their environments to Pythons that are installed.
The page's training scripts are not part of it; an example of this project, and a script that trains nothing, stand in.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.frameworks import environment
from tests.support.seeds import FIND_OR_MAKE_THE_CLUSTER, HOROVOD_ESTIMATOR, PYTORCH_ESTIMATOR

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "distributed"

pytestmark = [
    pytest.mark.xdist_group("gangs-local"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

IMPORTS = """
import os
import shutil

from azureml.core.workspace import Workspace
from azureml.core import Experiment

from azureml.core.compute import ComputeTarget, AmlCompute
from azureml.core.compute_target import ComputeTargetException
from azureml.train.dnn import PyTorch

ws = Workspace.from_config()

project_folder = './pytorch-birds'
os.makedirs(project_folder, exist_ok=True)

experiment_name = 'pytorch-birds'
experiment = Experiment(ws, name=experiment_name)

shutil.copy('pytorch_train.py', project_folder)

cluster_name = "gpucluster"
"""

SUBMIT = """
run = experiment.submit(estimator)
run.wait_for_completion(show_output=True)
"""

FETCH = """
# Create a model folder in the current directory
os.makedirs('./model', exist_ok=True)

for f in run.get_file_names():
    if f.startswith('outputs/model'):
        output_file_path = os.path.join('./model', f.split('/')[-1])
        print('Downloading from {} to {} ...'.format(f, output_file_path))
        run.download_file(name=f, output_file_path=output_file_path)
"""

TRAIN = """
import argparse, os

parser = argparse.ArgumentParser()
parser.add_argument('--num_epochs', type=int)
parser.add_argument('--output_dir')
args = parser.parse_args()
os.makedirs(args.output_dir, exist_ok=True)
with open(os.path.join(args.output_dir, 'model.pt'), 'w') as file:
    file.write('trained for %d epochs' % args.num_epochs)
"""


def test_the_page_from_top_to_bottom(yard: Yard, capsys: pytest.CaptureFixture[str]) -> None:
    (yard.folder / "pytorch_train.py").write_text(TRAIN)
    names: dict[str, Any] = {}
    exec(IMPORTS + FIND_OR_MAKE_THE_CLUSTER, names)
    maps = f"/api/workspaces/{names['ws'].name}/environment-maps"
    for pattern, python in (("PyTorch-1.4-*", sys.executable), ("PyTorch-1.13-*", str(environment("openmpi")))):
        names["ws"].service.put(maps, {"pattern": pattern, "interpreter": python})

    exec(PYTORCH_ESTIMATOR + SUBMIT + FETCH, names)
    assert "Execution Summary" in capsys.readouterr().out
    assert Path("model/model.pt").read_text() == "trained for 30 epochs"
    properties = names["run"].get_properties()
    assert properties["runyard.environment.asked"] == "PyTorch-1.4-GPU"
    assert sys.executable in properties["runyard.environment.mapped"]

    shutil.copy(EXAMPLES / "mpi_train.py", Path(names["project_folder"]) / "script.py")
    exec("from azureml.core.runconfig import MpiConfiguration", names)
    exec(HOROVOD_ESTIMATOR + SUBMIT, names)
    run = names["run"]
    metrics = run.get_metrics()
    assert metrics["world size"] == 2
    assert metrics["slope of rank 0"] == metrics["slope of rank 1"]
    logs = run.get_details_with_logs()["logFiles"]
    for rank in range(2):
        assert f"rank {rank} of 2" in logs[f"user_logs/std_log_process_{rank}.txt"]
