"""Submit the script that logs by MLflow (`ask_mlflow.py`), and wait for its end.

submit_mlflow.py FOLDER INTERPRETER FILE POINTS
"""

from __future__ import annotations

import json
import sys

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace


def main(folder: str, interpreter: str, file: str, points: str) -> None:
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = interpreter
    config = ScriptRunConfig(folder, "ask_mlflow.py", [file, points], compute_target="local", environment=environment)
    run = Experiment(Workspace.from_config(), "measured").submit(config)
    run.wait_for_completion(raise_on_error=True)
    values = run.get_metrics("loss")["loss"]
    print(json.dumps({"stored": len(values)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
