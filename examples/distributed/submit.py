"""Submit one of the training scripts in this folder over several nodes, with the code of SDK v1.

python submit.py plain                                   four processes on two nodes of this machine
python submit.py pytorch --python /path/with/torch/bin/python
python submit.py mpi --compute hpc --nodes 4             on a cluster that was attached as `hpc`
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from azureml.core import Environment, Experiment, Run, ScriptRunConfig, Workspace
from azureml.core.compute import AmlCompute, ComputeTarget
from azureml.core.compute_target import ComputeTargetException
from azureml.core.runconfig import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.distributed import PlainConfiguration

HERE = os.path.dirname(os.path.abspath(__file__))


def cluster(ws: Workspace, name: str, nodes: int) -> ComputeTarget:
    """The compute target of that name; one on this machine is made where there is none."""
    try:
        return ComputeTarget(workspace=ws, name=name)
    except ComputeTargetException:
        config = AmlCompute.provisioning_configuration(vm_size="STANDARD_D2_V2", max_nodes=max(4, nodes))
        target = ComputeTarget.create(ws, name, config)
        target.wait_for_completion(show_output=True)
        return target


def configuration(framework: str, nodes: int, python: str) -> ScriptRunConfig:
    jobs: dict[str, tuple[str, Any]] = {
        "plain": ("plain_train.py", PlainConfiguration(process_count_per_node=2, node_count=nodes)),
        "pytorch": ("pytorch_train.py", PyTorchConfiguration("Gloo", process_count=nodes, node_count=nodes)),
        "mpi": ("mpi_train.py", MpiConfiguration(process_count_per_node=1, node_count=nodes)),
        "horovod": ("horovod_train.py", MpiConfiguration(process_count_per_node=1, node_count=nodes)),
        "tensorflow": ("tensorflow_train.py", TensorflowConfiguration(nodes, parameter_server_count=0)),
        "parameter-server": ("parameter_server_train.py", TensorflowConfiguration(nodes, parameter_server_count=1)),
    }
    script, job = jobs[framework]
    env = Environment("user-managed-env")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = python
    return ScriptRunConfig(source_directory=HERE, script=script, environment=env, distributed_job_config=job)


def show(run: Run) -> None:
    for name, value in sorted(run.get_metrics().items()):
        print(f"{name}: {value[-1] if isinstance(value, list) else value}")
    for name in run.get_file_names():
        print(name)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=["plain", "pytorch", "mpi", "horovod", "tensorflow", "parameter-server"])
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--compute", default="cpu-cluster")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the framework")
    args = parser.parse_args()

    ws = Workspace.from_config()
    src = configuration(args.framework, args.nodes, args.python)
    src.run_config.target = cluster(ws, args.compute, args.nodes)
    run = Experiment(ws, "distributed").submit(src)
    run.wait_for_completion(show_output=True)
    show(run)


if __name__ == "__main__":
    main()
