"""The folders for journals of runs, and the background process that delivers them to the server.

Inside a submitted run it is the folder in RUNYARD_TELEMETRY, and the node runner ships it. Interactive runs, and
handles from outside, have a folder of their own in `<home>/telemetry/`, shipped by a background process
(`runyard.node.delivery.interactive_delivery`) that outlives this one:

    <home>/telemetry/<random>/
        ship.json        whose journals these are and how to reach the server; only the user can read it
        ship.lock        held by the shipper
        ship.log         the shipper's own log
        journal/ spool/  as in `runyard.contracts.journal`
        streams/         the output of an interactive run (user_log.txt) and a link to its folder of logs (logs)
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Iterator

from runyard.contracts import home as homes
from runyard.contracts import journal as contract
from runyard.contracts import names
from runyard.contracts.history import INTERACTIVE_FILE, INTERACTIVE_LOG
from runyard.sdk.telemetry.journal import Journal
from runyard.system import processes

if TYPE_CHECKING:
    import subprocess

    from runyard.client.http import Locator
    from runyard.sdk.workspace.service import Service

LOGS = "logs"
TAIL = 1 << 16

_shippers: list[subprocess.Popen[bytes]] = []
"""Polled, so that those that have ended do not become zombies."""


class Telemetry:
    """A folder of journals. One object per folder and process; it may serve a run and its children.

    `followed` is the run whose streams and folders the shipper follows as well.
    """

    def __init__(self, folder: Path, followed: str | None = None) -> None:
        self.folder, self.followed = folder, followed
        self._journals: dict[str, Journal] = {}

    def journal(self, run_id: str) -> Journal:
        journal = self._journals.get(run_id)
        if journal is None:
            journal = self._journals[run_id] = Journal(self.folder / "journal", run_id)
        return journal

    def store_bytes(self, run_id: str, name: str, content: bytes) -> None:
        """Queue bytes for the run's history under `name`. OSError when the disk is full."""
        with self._spooled(run_id, name) as file:
            file.write(content)

    def store_file(self, run_id: str, name: str, source: Path) -> None:
        """The same for a file, as it is now: it may be changed or removed afterwards."""
        with self._spooled(run_id, name) as file, source.open("rb") as content:
            for chunk in iter(lambda: content.read(1 << 20), b""):
                file.write(chunk)

    def flush(self, run_id: str, seconds: float) -> bool:
        """Wait until the server has confirmed what has been written for the run so far; whether it has.

        Processes that this one started write into the same folder, and what they wrote counts too.
        """
        journal = self._journals.get(run_id)
        deadline = time.monotonic() + seconds
        pause = 0.002
        hurried = False
        written: list[tuple[Path, int]] | None = None
        while True:
            if journal is None or journal.settle():
                written = self._written(run_id) if written is None else written
                written = [(file, size) for file, size in written if not _confirmed(file, size)]
                if not written:
                    return True
                if not hurried:
                    self.hurry()
                    hurried = True
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def hurry(self) -> None:
        """Have what was written so far delivered at once, also when nobody watches the run."""
        try:
            descriptor = os.open(self.folder / contract.WAKE, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return  # nobody delivers at the moment, and whoever begins to does so at once
        with contextlib.suppress(OSError):  # full, so that the reader is awake; or the reader has just ended
            os.write(descriptor, contract.FLUSH)
        os.close(descriptor)

    def _written(self, run_id: str) -> list[tuple[Path, int]]:
        """The journals of a run, of all processes, and their current sizes."""
        folder = self.folder / "journal"
        with contextlib.suppress(FileNotFoundError):
            names = [name for name in os.listdir(folder) if name.startswith(f"{run_id}@") and name.endswith(".jsonl")]
            return [(folder / name, _whole_lines(folder / name)) for name in names]
        return []

    def ensure_shipper(self) -> None:
        """Start another shipper if that of the folder was killed: what it has not delivered is still on the disk."""
        if (self.folder / "ship.json").exists() and not _has_shipper(self.folder):
            start_shipper(self.folder)

    @contextlib.contextmanager
    def _spooled(self, run_id: str, name: str) -> Iterator[BinaryIO]:
        spool = self.folder / "spool"
        spool.mkdir(parents=True, exist_ok=True)
        path = spool / os.urandom(8).hex()
        try:
            with path.open("wb") as file:
                yield file
        except BaseException:
            path.unlink()
            raise
        self.journal(run_id).file(name, path.name)


def inside() -> Telemetry | None:
    """The folder that the node runner ships; None outside a run."""
    folder = os.environ.get("RUNYARD_TELEMETRY")
    if not folder:
        return None
    if folder not in _inside:
        _inside[folder] = Telemetry(Path(folder))
    return _inside[folder]


_inside: dict[str, Telemetry] = {}


def led(service: Service, run_id: str, token: str | None, outputs: Path | None = None) -> Telemetry:
    """The folder for a run that this process leads. Inside another run it is that one's, which the node runner ships: a
    shipper would end with the script."""
    shared = inside() if service.of_run else None
    return shared or shipped(run_id, token, service.client.locator, lead=True, outputs=outputs)


def shipped(run_id: str, token: str | None, locator: Locator, lead: bool, outputs: Path | None = None) -> Telemetry:
    """A new folder with a shipper.

    `lead`: this process leads the run, so that its death is the run's end, and the shipper follows what it prints, its
    logs (once they are captured) and the folder `outputs`.
    """
    names.check("run", run_id)  # it comes from a server, and files are named after it
    home = locator.server_file.parent if locator.server_file is not None else homes.home()
    folder = home / "telemetry" / os.urandom(8).hex()
    folder.mkdir(parents=True, mode=0o700)
    pid = os.getpid()
    folders = {LOGS: str(folder / "streams" / LOGS)}
    if outputs is not None:
        folders["outputs"] = str(outputs)
    order = {
        "run_id": run_id,
        "token": token or locator.token,
        "server_url": locator.url,
        "server_file": str(locator.server_file) if locator.server_file else None,
        "owner_pid": pid,
        "owner_started": processes.started(pid),
        "lead": lead,
        "files": {INTERACTIVE_LOG: str(folder / "streams" / INTERACTIVE_FILE)} if lead else {},
        "folders": folders if lead else {},
    }
    homes.write_private(folder / "ship.json", json.dumps(order, indent=1))
    start_shipper(folder)
    return Telemetry(folder, run_id if lead else None)


def start_shipper(folder: Path) -> None:
    import subprocess

    _shippers[:] = [shipper for shipper in _shippers if shipper.poll() is None]
    # The shipper needs the packages that this process uses, wherever they are installed.
    packages = str(Path(__file__).resolve().parents[3])
    search = os.environ.get("PYTHONPATH")
    environment = dict(os.environ, PYTHONPATH=packages + (os.pathsep + search if search else ""))
    with (folder / "ship.log").open("ab") as log:
        _shippers.append(
            subprocess.Popen(
                [sys.executable, "-m", "runyard.node.delivery.interactive_delivery", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        )


def adopt(home: Path) -> int:
    """Start shippers for folders without one, after a crash or a reboot. Returns how many."""
    adopted = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(home / "telemetry"):
            folder = Path(entry.path)
            if (folder / "ship.json").exists() and not _has_shipper(folder):
                start_shipper(folder)
                adopted += 1
    return adopted


def _has_shipper(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / "ship.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return True  # the folder was removed: its shipper has just finished
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _whole_lines(journal: Path) -> int:
    """How many bytes of the file are whole lines: a process that was killed may have left half of one."""
    try:
        with journal.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, size - TAIL))
            return start + file.read(size - start).rfind(b"\n") + 1
    except FileNotFoundError:
        return 0  # delivered, and removed


def _confirmed(journal: Path, size: int) -> bool:
    """Whether the server has that many bytes of the file."""
    try:
        return int(journal.with_suffix(".ack").read_text("ascii") or 0) >= size
    except (FileNotFoundError, ValueError):
        return size == 0 or not journal.exists()
