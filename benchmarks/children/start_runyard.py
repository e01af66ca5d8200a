"""Submit runs through the SDK in a process that stays up, as a notebook does.

    start_runyard.py FOLDER      the folder with first_line.py

Each line of standard input is a JSON list: ["submit", FILE] submits and prints the moment before; ["wait"] waits for
the run's end.
"""

from __future__ import annotations

import json
import sys
import time

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace


def main(folder: str) -> None:
    experiment = Experiment(Workspace.from_config(), "start")
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    for line in sys.stdin:
        action, *more = json.loads(line)
        answer = {}
        if action == "submit":
            config = ScriptRunConfig(folder, "first_line.py", more, compute_target="local", environment=environment)
            answer["at"] = time.time()
            run = experiment.submit(config)
        else:
            run.wait_for_completion(raise_on_error=True)
        print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
