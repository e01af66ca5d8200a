"""A sweep of trials that do nothing: sweep_runyard.py COUNT AT_ONCE SECONDS FILE"""

from __future__ import annotations

import os
import sys
import tempfile
import time

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace
from azureml.train.hyperdrive import HyperDriveConfig, PrimaryMetricGoal, RandomParameterSampling, uniform


def main(count: int, at_once: int, seconds: float, path: str) -> None:
    sys.path.insert(0, __file__.rpartition("/")[0])
    import sweep_marks  # type: ignore[import-not-found]  # beside this script

    workspace = Workspace.from_config()
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.basename(sweep_marks.program(folder, path, seconds))
        config = ScriptRunConfig(folder, script, compute_target="local", environment=environment)
        sweep = HyperDriveConfig(
            RandomParameterSampling({"--x": uniform(0, 1)}, {"seed": 1}),
            "none",
            PrimaryMetricGoal.MAXIMIZE,
            max_total_runs=count,
            max_concurrent_runs=at_once,
            run_config=config,
        )
        experiment = Experiment(workspace, "sweep")
        began = time.time()
        experiment.submit(sweep).wait_for_completion()
        sweep_marks.answer(path, at_once, began, time.time())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
