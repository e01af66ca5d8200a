"""Send runs that do nothing through a cluster of nodes on this machine, and tell how long all of it took.

queue_runyard.py COUNT NODES
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace
from azureml.core.compute import AmlCompute, ComputeTarget


def main(count: int, nodes: int) -> None:
    workspace = Workspace.from_config()
    if "queue" not in workspace.compute_targets:
        sizes = AmlCompute.provisioning_configuration(vm_size="STANDARD_D2_V2", min_nodes=nodes, max_nodes=nodes)
        ComputeTarget.create(workspace, "queue", sizes).wait_for_completion()
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    experiment = Experiment(workspace, "queue")
    with tempfile.TemporaryDirectory() as folder:
        config = ScriptRunConfig(folder, command="true", compute_target="queue", environment=environment)
        began = time.monotonic()
        runs = [experiment.submit(config) for _ in range(count)]
        submitted = time.monotonic()
        for run in runs:
            run.wait_for_completion(raise_on_error=True)
        ended = time.monotonic()
    print("\n" + json.dumps({"submitted": submitted - began, "ended": ended - began}), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
