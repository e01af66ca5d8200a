"""Take one snapshot of a folder with the SDK's own code, and tell its seconds and how many requests it took.

take_snapshot.py FOLDER [--remote]

--remote: as if the server were on another machine, so that all goes over HTTP.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from runyard.client.exchange import Connection
from runyard.sdk.snapshot.snapshot import take_snapshot
from runyard.sdk.workspace.service import Service, local_service

requests = 0


def count_requests() -> None:
    plain = Connection.request

    def counted(self: Connection, *arguments: Any, **options: Any) -> None:
        global requests
        requests += 1
        plain(self, *arguments, **options)

    Connection.request = counted  # type: ignore[method-assign]


def main(folder: str, *options: str) -> None:
    service = local_service()
    service.get("/api/server")
    if "--remote" in options:
        service = Service(service.client)
    count_requests()
    began = time.perf_counter()
    take_snapshot(service, Path(folder))
    print(json.dumps({"seconds": time.perf_counter() - began, "requests": requests}))


if __name__ == "__main__":
    main(*sys.argv[1:])
