"""Submit gangs of 2×2 through the SDK in a process that stays up, as a notebook does.

    gang_runyard.py FOLDER TARGETS       the folder with first_barrier.py; what to make, as JSON: {name: how}

Each line of standard input is a JSON list: ["submit", TARGET, KIND, PYTHON, FILE] submits and prints the moment
before; ["wait"] waits for the run's end. How a target is made: {} for one on this machine, otherwise {"engine": ...}
with the options of its engine.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace
from azureml.core.compute import AmlCompute, ComputeTarget, RayCompute, SlurmCompute
from azureml.core.runconfig import MpiConfiguration, PyTorchConfiguration
from runyard.sdk.submit.distributed import PlainConfiguration


def make(workspace: Workspace, name: str, how: dict[str, Any]) -> None:
    engine = how.pop("engine", None)
    if engine is None:
        # Two nodes that stay: what is measured is the start of a gang, not the growth of a cluster.
        config = AmlCompute.provisioning_configuration(vm_size="STANDARD_D2_V2", min_nodes=2, max_nodes=2)
        ComputeTarget.create(workspace, name, config).wait_for_completion()
        return
    kind = RayCompute if engine == "ray" else SlurmCompute
    ComputeTarget.attach(workspace, name, kind.attach_configuration(**how))


def gang_of(kind: str) -> PlainConfiguration | PyTorchConfiguration | MpiConfiguration:
    if kind == "pytorch":
        return PyTorchConfiguration("Gloo", process_count=4, node_count=2)
    if kind == "mpi":
        return MpiConfiguration(process_count_per_node=2, node_count=2)
    return PlainConfiguration(process_count_per_node=2, node_count=2)


def main(folder: str, targets: str) -> None:
    workspace = Workspace.from_config()
    for name, how in json.loads(targets).items():
        make(workspace, name, how)
    experiment = Experiment(workspace, "gang")
    print("\n" + json.dumps({}), flush=True)
    for line in sys.stdin:
        action, *more = json.loads(line)
        answer = {}
        if action == "submit":
            target, kind, python, path = more
            environment = Environment("user-managed-env")
            environment.python.user_managed_dependencies = True
            environment.python.interpreter_path = python
            config = ScriptRunConfig(
                folder,
                "first_barrier.py",
                [kind, path],
                compute_target=target,
                environment=environment,
                distributed_job_config=gang_of(kind),
            )
            answer["at"] = time.time()
            run = experiment.submit(config)
        else:
            run.wait_for_completion(raise_on_error=True)
        print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
