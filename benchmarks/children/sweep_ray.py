"""Trials through Ray Tune: sweep_ray.py COUNT AT_ONCE SECONDS FILE"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from typing import Any

import ray
from ray import tune


def main(count: int, at_once: int, seconds: float, path: str) -> None:
    sys.path.insert(0, __file__.rpartition("/")[0])
    import sweep_marks  # type: ignore[import-not-found]  # beside this script

    with tempfile.TemporaryDirectory() as folder:
        program = sweep_marks.program(folder, path, seconds)

        def trial(config: dict[str, Any]) -> None:
            subprocess.run([program, "--x", str(config["x"])], check=True)

        ray.init(num_cpus=at_once, include_dashboard=False, logging_level="ERROR")
        began = time.time()
        tuner = tune.Tuner(
            trial,
            param_space={"x": tune.uniform(0, 1)},
            tune_config=tune.TuneConfig(num_samples=count, max_concurrent_trials=at_once, reuse_actors=True),
            run_config=tune.RunConfig(verbose=0),
        )
        tuner.fit()
        sweep_marks.answer(path, at_once, began, time.time())
        ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
