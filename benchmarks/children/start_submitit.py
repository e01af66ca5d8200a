"""Submit functions to submitit's local executor in a process that stays up.

    start_submitit.py FOLDER     where submitit keeps its files

Standard input as for start_runyard.py. Submitit runs functions, so the function's first line is what is measured.
"""

from __future__ import annotations

import json
import sys
import time

import submitit


def first_line(path: str) -> None:
    began = time.time()
    with open(path, "w") as file:
        file.write(f"{began!r}\n")


def main(folder: str) -> None:
    executor = submitit.LocalExecutor(folder=folder)
    executor.update_parameters(timeout_min=5)
    for line in sys.stdin:
        action, *more = json.loads(line)
        answer = {}
        if action == "submit":
            answer["at"] = time.time()
            job = executor.submit(first_line, *more)
        else:
            job.result()
        print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
