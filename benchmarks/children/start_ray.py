"""Submit jobs to a Ray that runs already, through its job client in a process that stays up.

    start_ray.py ADDRESS SCRIPT

Standard input as for start_runyard.py; ["idle"] waits until no job is under way, whoever submitted it.
"""

from __future__ import annotations

import json
import shlex
import sys
import time

from ray.job_submission import JobSubmissionClient


def main(address: str, script: str) -> None:
    client = JobSubmissionClient(address)
    for line in sys.stdin:
        action, *more = json.loads(line)
        answer = {}
        if action == "submit":
            answer["at"] = time.time()
            client.submit_job(entrypoint=shlex.join([sys.executable, script, *more]))
        else:
            while not all(job.status.is_terminal() for job in client.list_jobs()):
                time.sleep(0.05)
        print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
