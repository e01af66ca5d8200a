"""Log a point for each line on standard input, and answer with the time before the call.

log_live.py runyard|mlflow     prints the run first
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def main(to: str) -> None:
    run, log = _runyard() if to == "runyard" else _mlflow()
    for _ in range(2):  # a single point is no curve
        log(0.0)
    print(json.dumps({"run": run}), flush=True)
    for line in sys.stdin:
        (value,) = json.loads(line)
        at = time.time()
        log(value)
        print(json.dumps({"at": at}), flush=True)


def _runyard() -> tuple[str, Callable[[float], None]]:
    from azureml.core import Experiment, Workspace

    run = Experiment(Workspace.from_config(), "live").start_logging()

    def log(value: float) -> None:
        run.log("loss", value)

    return run.id, log


def _mlflow() -> tuple[str, Callable[[float], None]]:
    import mlflow

    mlflow.set_experiment("studio")
    run, steps = mlflow.start_run(), iter(range(1_000_000))

    def log(value: float) -> None:
        mlflow.log_metric("loss", value, step=next(steps))

    return run.info.run_id, log


if __name__ == "__main__":
    main(*sys.argv[1:])
