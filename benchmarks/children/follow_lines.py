"""Follow the logs of steady runs (`log_steadily.py`) as their event streams announce them, in a process of its own.

follow_lines.py URL TOKEN SECONDS RUN...     prints how old each line was when its follower had it

Lines that were written before their run was watched do not count: nobody waited for them. A line counts until its
follower has read it from the server, whose answer is a second request.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import threading
import time

LOG = "user_logs/std_log.txt"
WATCHED_AFTER = 1.0
"""Seconds from the moment in which a stream is open until its run knows of it, however busy the server is."""


def follow(address: str, headers: dict[str, str], run_id: str, until: float, samples: list[float]) -> None:
    reader = http.client.HTTPConnection(address, timeout=60)
    stream = http.client.HTTPConnection(address, timeout=60)
    with contextlib.closing(reader), contextlib.closing(stream):
        stream.request("GET", f"/api/runs/{run_id}/events", headers=headers)
        response, seen = stream.getresponse(), 0
        watched = time.time() + WATCHED_AFTER
        while time.time() < until and (line := response.readline()):
            if not line.startswith(b"data: ") or json.loads(line[6:]).get("name") != LOG:
                continue
            path = f"/api/runs/{run_id}/files/{LOG}"
            reader.request("GET", path, headers={**headers, "Range": f"bytes={seen}-"})
            content, now = reader.getresponse().read(), time.time()
            whole = content[: content.rfind(b"\n") + 1]
            seen += len(whole)
            samples += [now - written for written in map(float, whole.split()) if written >= watched]


def main(url: str, token: str, seconds: str, *runs: str) -> None:
    address, headers, until = (
        url.partition("://")[2],
        {"Authorization": f"Bearer {token}"},
        time.time() + float(seconds),
    )
    samples: list[float] = []
    followers = [threading.Thread(target=follow, args=(address, headers, run, until, samples)) for run in runs]
    for each in followers:
        each.start()
    for each in followers:
        each.join()
    print(json.dumps(samples))


if __name__ == "__main__":
    main(*sys.argv[1:])
