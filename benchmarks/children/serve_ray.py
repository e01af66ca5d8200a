"""The same work in Ray Serve."""

from __future__ import annotations

import signal
import sys
from typing import Any

import ray
from ray import serve


@serve.deployment(num_replicas=1, max_ongoing_requests=100)  # type: ignore[untyped-decorator, unused-ignore]
class Scored:
    async def __call__(self, request: Any) -> Any:
        return {"sum": sum((await request.json())["data"][0])}


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[1])})
    serve.run(Scored.bind())  # type: ignore[attr-defined, unused-ignore]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    signal.pause()
