"""The local engine: a node runner is a process on this machine, in a session of its own, so it outlives the server."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil

from runyard.contracts import names
from runyard.contracts.plan import Plan
from runyard.engines.base import Engine, EngineError, Gone, Handle

KEPT_FROM_RUNS = (
    "RUNYARD_TOKEN",
    "RUNYARD_DATABASE_URL",
    "RUNYARD_SERVER",
    "RUNYARD_HOME",
    "RUNYARD_PORT",
    "RUNYARD_HOST",
)
"""Variables of the server that a user's script must not see."""


def default_places() -> int:
    """Runs at once on this machine unless the operator says otherwise: some always, more with more cores."""
    return max(8, 2 * (os.cpu_count() or 1))


class LocalEngine(Engine):
    def __init__(self, runs: Path, places: int | None = None) -> None:
        self._runs = runs
        self._places = places or default_places()
        for rest in runs.glob(".*.gone"):  # what a runner was removing when it was killed
            shutil.rmtree(rest, ignore_errors=True)

    @property
    def places(self) -> int:
        return self._places

    def start(self, plan: Plan, manifest: bytes | None, gone: Gone) -> Handle:
        folder = self._folder(plan.run_id)
        try:
            for each in (self._runs, folder, folder / "streams"):  # with `parents`, the mode is that of the last alone
                each.mkdir(parents=True, exist_ok=True, mode=0o700)
            if manifest is not None:
                (folder / "manifest").write_bytes(manifest)
            plan.save(folder)
            return self._spawn(plan.run_id, Path(plan.sdk), folder, [], gone)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise EngineError(_why(error, folder)) from error

    def watch(self, run_id: str, handle: Handle, gone: Gone) -> bool:
        process = _find(handle)
        if process is None:
            return False
        threading.Thread(target=_wait_for_other, args=(run_id, process, gone), daemon=True).start()
        return True

    def stop(self, handle: Handle) -> None:
        process = _find(handle)
        if process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):  # it may end in this moment
                process.send_signal(signal.SIGTERM)

    def rescue(self, run_id: str, gone: Gone) -> Handle | None:
        folder = self._folder(run_id)
        if not (folder / "plan.json").is_file():
            return None
        alive = _holder(folder / "runner.lock")
        if alive is not None and self.watch(run_id, alive, gone):
            return alive
        try:
            return self._spawn(run_id, Path(Plan.load(folder).sdk), folder, ["--rescue"], gone)
        except OSError as error:
            raise EngineError(_why(error, folder)) from error

    def left(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._runs) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def clear(self, run_id: str) -> None:
        folder = self._folder(run_id)
        if _holder(folder / "runner.lock") is None:
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, run_id: str) -> Path:
        return self._runs / names.check("run", run_id)

    def _spawn(self, run_id: str, sdk: Path, folder: Path, options: list[str], gone: Gone) -> Handle:
        environment = {name: value for name, value in os.environ.items() if name not in KEPT_FROM_RUNS}
        with open(folder / "streams" / "runner.log", "ab") as log:
            # -I -S: the runner needs only the standard library, and starts in a fraction of the time without site.
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(sdk / "runyard" / "node"), str(folder), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        handle = {"pid": process.pid, "created": _created(process.pid)}
        threading.Thread(target=_wait_for_own, args=(run_id, process, gone), daemon=True).start()
        return handle


def _created(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return None


def _find(handle: Handle) -> psutil.Process | None:
    """The process of a handle, unless it is gone and its id belongs to somebody else now."""
    try:
        process = psutil.Process(int(handle["pid"]))
        same = abs(process.create_time() - float(handle["created"] or 0.0)) < 0.05
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _holder(lock: Path) -> Handle | None:
    """The node runner that holds the lock of a run's folder, if one does."""
    try:
        with open(lock, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        pid = int(json.loads(lock.read_text("utf-8") or '{"pid": 0}')["pid"])
        return {"pid": pid, "created": _created(pid)}


def _wait_for_own(run_id: str, process: subprocess.Popen[bytes], gone: Gone) -> None:
    code = process.wait()
    gone(run_id, f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}")


def _wait_for_other(run_id: str, process: psutil.Process, gone: Gone) -> None:
    process.wait()
    gone(run_id, "it is gone")


def _why(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"There is no space left on the disk of {folder.parent}. Free some, for example with `runyard rm`."
    return f"The node runner could not be started in {folder}: {error.strerror or error}."
