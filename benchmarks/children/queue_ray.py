"""Send jobs that do nothing to a Ray that runs already, so many at a time, and tell how long it took.

queue_ray.py COUNT AT_ONCE ADDRESS
"""

from __future__ import annotations

import json
import sys
import time

from ray.job_submission import JobSubmissionClient


def main(count: int, at_once: int, address: str) -> None:
    client = JobSubmissionClient(address)
    began = time.monotonic()
    under_way: list[str] = []
    for number in range(count):
        while len(under_way) == at_once:
            under_way = still(client, under_way)
        under_way.append(client.submit_job(entrypoint="true", submission_id=f"nothing-{number}"))
    while under_way:
        under_way = still(client, under_way)
    print("\n" + json.dumps({"ended": time.monotonic() - began}), flush=True)


def still(client: JobSubmissionClient, jobs: list[str]) -> list[str]:
    time.sleep(0.02)
    ended = {job.submission_id for job in client.list_jobs() if job.status.is_terminal()}
    return [job for job in jobs if job not in ended]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
