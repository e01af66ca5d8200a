"""`python -m runyard.serving settings.json`: serve, as the settings say. With `--worker`, one worker of it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from runyard.contracts.services.worker import (
    FAILED,
    INIT_FAILED,
    BadFile,
    BadSettings,
    WorkerError,
    WorkerSettings,
    WorkerStatus,
)


def main(arguments: list[str]) -> int:
    if not arguments:
        print("Usage: python -m runyard.serving settings.json", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        settings = WorkerSettings.read(path)
    except (OSError, BadFile, BadSettings) as error:
        print(f"The service cannot start: {error}", file=sys.stderr)
        return INIT_FAILED
    options = dict(zip(arguments[1::2], arguments[2::2]))
    if "--worker" in options:
        from runyard.serving.worker import work

        listening = socket.socket(fileno=int(options["--listening"]))
        control = socket.socket(fileno=int(options["--control"]))
        for each in (listening, control):  # not for processes that the user's code starts
            os.set_inheritable(each.fileno(), False)
        return work(settings, listening, int(options["--worker"]), control)
    return _supervise(settings, path)


def _supervise(settings: WorkerSettings, path: Path) -> int:
    from runyard.serving import streams
    from runyard.serving.left_files import leave
    from runyard.serving.listener import CannotListen
    from runyard.serving.supervisor import Supervisor

    streams.install()
    try:
        supervisor = Supervisor(settings, path)
    except CannotListen as error:
        print(f"The service cannot start: {error}", file=sys.stderr)
        told = WorkerError("CannotListen", str(error))
        status = WorkerStatus(FAILED, os.getpid(), settings.host, settings.port, error=told)
        leave(settings.status, status.as_dict())
        return INIT_FAILED
    return supervisor.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
