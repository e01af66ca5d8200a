"""Optuna with processes: workers share a study. With "process" the objective starts the trial's program, as one starts
a training script; with "function" the trial is a call within the worker.
sweep_optuna.py COUNT AT_ONCE SECONDS FILE process|function"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback


def work(count: int, path: str, run: Callable[[float], object]) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name="sweep", storage=_storage(path), sampler=optuna.samplers.RandomSampler())

    def objective(trial: Any) -> float:
        value = float(trial.suggest_float("x", 0, 1))
        run(value)
        return value

    study.optimize(objective, callbacks=[MaxTrialsCallback(count, states=None)])


def _storage(path: str) -> Any:
    return JournalStorage(JournalFileBackend(f"{path}.journal"))


def main(count: int, at_once: int, seconds: float, path: str, kind: str) -> None:
    sys.path.insert(0, __file__.rpartition("/")[0])
    import sweep_marks  # type: ignore[import-not-found]  # beside this script

    with tempfile.TemporaryDirectory() as folder:
        program = sweep_marks.program(folder, path, seconds)

        def process(value: float) -> None:
            subprocess.run([program, "--x", str(value)], check=True)

        def function(value: float) -> None:
            sweep_marks.call(path, seconds)

        run = {"process": process, "function": function}[kind]
        began = time.time()
        optuna.create_study(study_name="sweep", storage=_storage(path), direction="maximize")
        workers = [multiprocessing.Process(target=work, args=(count, path, run)) for _ in range(at_once)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        sweep_marks.answer(path, at_once, began, time.time())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5])
