"""Where Runyard stores its files on this machine, and how a process finds the server that runs here.

RUNYARD_HOME (~/.runyard)
    token              the user's token; only the user can read it
    secret             signs run tokens; only the user can read it
    server.json        the address and process id of the server that runs now
    server.lock        held by that server; `start.lock` by a process that is starting one
    server.log         the log of a server in the background
    store.id           ties the files here to their database, which holds the same id
    runyard.db         the database (SQLite)
    objects/           content by hash; `removed/` in it waits to be removed for good, `handed/` to be taken in
    growing/           logs that are still being written
    runs/              one folder per active run
    telemetry/         journals of interactive runs, to be delivered to the server
    sdk/               the packages that a run's processes import
    environments/      what was built for runs, by key; `runyard env` looks after it
    data-cache/        what was fetched for runs; `runyard data cache` looks after it
    secrets/           credentials that environments and datastores refer to; only the user can read them
    datastores/        the files of workspaceblobstore and workspacefilestore, a folder for each workspace
    cache/             may be deleted at any time
"""

from __future__ import annotations

import os
from pathlib import Path

from runyard.system.json_files import BadFile, is_process, made_of, read_object
from runyard.system.records import record

DEFAULT_PORT = 7420


def home() -> Path:
    """The folder that holds everything: RUNYARD_HOME, or ~/.runyard."""
    return Path(os.environ.get("RUNYARD_HOME") or "~/.runyard").expanduser().absolute()


@record(frozen=True)
class Running:
    """The content of server.json: the server of a home folder. It may be out of date: check /health."""

    url: str
    pid: int
    version: str
    started: str | None = None  # when the process was started (`runyard.system.processes`): ids are reused


def server_file(folder: Path) -> Path:
    return folder / "server.json"


def read_server(folder: Path) -> Running | None:
    """The server that runs for a home folder, or did; None when the file names none."""
    path = server_file(folder)
    if not is_own(path):
        return None
    try:
        running = made_of(Running, read_object(path), path)
    except (OSError, BadFile):
        return None
    return running if is_process(running.pid) else None


def read_token(folder: Path) -> str | None:
    path = folder / "token"
    try:
        return (path.read_text("utf-8").strip() or None) if is_own(path) else None
    except (OSError, UnicodeDecodeError):
        return None


def is_own(path: Path) -> bool:
    """Whether a file in a home folder belongs to its owner, and was not put there by another user."""
    try:
        return os.lstat(path).st_uid in (os.geteuid(), 0, os.stat(path.parent).st_uid)
    except OSError:
        return False


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, whole or not at all."""
    # Under a name that nobody can guess, and only if it does not exist: else another user might have put a file, or a
    # link, in its place.
    aside = os.path.join(path.parent, f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(aside, path)
