"""Take one snapshot of a folder with the SDK's own code, and tell its seconds and how many requests it took.

take_snapshot.py FOLDER
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from pathlib import Path
from typing import Any

from runyard.sdk.snapshot.snapshot import take_snapshot
from runyard.sdk.workspace.service import local_service

requests = 0


def count_requests() -> None:
    """Every request of the standard library's client passes `putrequest`."""
    plain = http.client.HTTPConnection.putrequest

    def counted(self: http.client.HTTPConnection, *arguments: Any, **options: Any) -> None:
        global requests
        requests += 1
        plain(self, *arguments, **options)

    http.client.HTTPConnection.putrequest = counted  # type: ignore[method-assign]


def main(folder: str) -> None:
    service = local_service()
    service.get("/api/server")
    count_requests()
    began = time.perf_counter()
    take_snapshot(service, Path(folder))
    print(json.dumps({"seconds": time.perf_counter() - began, "requests": requests}))


if __name__ == "__main__":
    main(*sys.argv[1:])
