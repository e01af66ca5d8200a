"""Send functions that do nothing through submitit's local executor, so many at a time, and tell how long it took.

queue_submitit.py COUNT AT_ONCE FOLDER
"""

from __future__ import annotations

import json
import sys
import time

import submitit


def nothing() -> None:
    """The job."""


def main(count: int, at_once: int, folder: str) -> None:
    executor = submitit.LocalExecutor(folder=folder)
    executor.update_parameters(timeout_min=5)
    began = time.monotonic()
    under_way: list[submitit.Job[None]] = []
    for _ in range(count):
        while len(under_way) == at_once:  # it has no queue of its own on one machine
            under_way = [job for job in under_way if not job.done()]
            time.sleep(0.005)
        under_way.append(executor.submit(nothing))
    for job in under_way:
        job.result()
    print("\n" + json.dumps({"ended": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
