"""Submit steady runs to this machine, and tell their ids once all of them run.

submit_steady.py COUNT POINTS SECONDS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace

HERE = Path(__file__).resolve().parent


def main(count: int, points: int, seconds: int) -> None:
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    experiment = Experiment(Workspace.from_config(), "steady")
    config = ScriptRunConfig(
        str(HERE),
        script="log_steadily.py",
        arguments=[points, seconds],
        compute_target="local",
        environment=environment,
    )
    runs = [experiment.submit(config) for _ in range(count)]
    waiting = list(runs)
    while waiting:
        waiting = [run for run in waiting if run.get_status() not in ("Running", "Completed", "Failed")]
        time.sleep(0.2)
    print("\n" + json.dumps({"runs": [run.id for run in runs]}), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
