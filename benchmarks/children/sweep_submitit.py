"""Trials through submitit's local executor, so many at a time: sweep_submitit.py COUNT AT_ONCE SECONDS FILE"""

from __future__ import annotations

import random
import sys
import tempfile
import time

import submitit


def main(count: int, at_once: int, seconds: float, path: str) -> None:
    sys.path.insert(0, __file__.rpartition("/")[0])
    import sweep_marks  # type: ignore[import-not-found]  # beside this script

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = sweep_marks.program(folder, path, seconds)
        executor = submitit.LocalExecutor(folder=folder)
        executor.update_parameters(timeout_min=5)
        began = time.time()
        under_way: list[submitit.Job[None]] = []
        for _ in range(count):
            while len(under_way) == at_once:  # it has no queue of its own on one machine
                under_way = [job for job in under_way if not job.done()]
                time.sleep(0.005)
            command = [program, "--x", str(random.random())]
            under_way.append(executor.submit(submitit.helpers.CommandFunction(command, verbose=False)))
        for job in under_way:
            job.result()
        sweep_marks.answer(path, at_once, began, time.time())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
