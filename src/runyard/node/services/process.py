"""The process of a replica: what it is told, how it is started, and whether it lives.

Unlike a script it is not killed with its node runner: it goes on to answer, and the runner's successor finds it again
by its id and the moment it was started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from runyard.contracts.home import write_private
from runyard.contracts.plan import Plan
from runyard.contracts.services import states
from runyard.contracts.services.plan import ACCESS, ROUTES, ServicePlan
from runyard.contracts.services.settings import NO_KEY
from runyard.contracts.services.worker import Authentication, Batch, ServedModel, WorkerSettings, WorkerStatus
from runyard.node.outcome import exits
from runyard.node.outcome.exits import Exit
from runyard.node.problem import RunProblem
from runyard.node.state import Launched
from runyard.system.json_files import BadFile, read_object
from runyard.system.processes import alive, started

FOLDER = "serving"
"""In the run's folder: settings.json and status.json."""

_NOT_FOR_SERVICES = ("AZUREML_RUN_", "AZUREML_ROOT_RUN_ID", "AZUREML_EXPERIMENT", "RUNYARD_TELEMETRY", "AZ_BATCHAI_")
"""Variables of a run. A scoring script is in none: `Run.get_context()` is offline there, as in SDK v1."""


def variables(inherited: Mapping[str, str], service: ServicePlan, work: Path, models: Sequence[Path]) -> dict[str, str]:
    """What the process sees: SDK v1's variables of a service, and none of the run's token."""
    found = {name: value for name, value in inherited.items() if not name.startswith(_NOT_FOR_SERVICES)}
    found["AML_APP_ROOT"] = str(work)
    root = models[0] if len(models) == 1 else work / "azureml-models"
    found["AZUREML_MODEL_DIR"] = str(root)
    if service.entry_script is not None:
        found["AZUREML_ENTRY_SCRIPT"] = service.entry_script
        found["AZUREML_SOURCE_DIRECTORY"] = service.source_directory
    found["SERVICE_NAME"] = service.service
    return {**found, **service.settings.environment_variables}


def write_settings(plan: Plan, service: ServicePlan, folder: Path, work: Path, models: Sequence[Path]) -> Path:
    """The file that the process is started with."""
    place = folder / FOLDER
    place.mkdir(exist_ok=True, mode=0o700)
    path, status = place / "settings.json", place / "status.json"
    settings = service.settings
    if service.role == states.GATEWAY:
        document: dict[str, Any] = {
            "service": service.service,
            "status": str(status),
            "host": service.host,
            "port": service.port,
            "listener": service.listener,
            "routes": str(Path(service.folder) / ROUTES),
            "access": str(Path(service.folder) / ACCESS),
            "max_request_bytes": settings.max_request_bytes,
            "drain_seconds": settings.drain_seconds,
            "wake_seconds": settings.probes.initial_delay_seconds,
        }
    else:
        mode = settings.authentication
        document = WorkerSettings(
            service=service.service,
            status=str(status),
            revision=service.revision,
            replica=service.replica,
            host=service.host,
            port=service.port,
            listener=service.listener,
            models=[
                ServedModel(
                    str(each["name"]),
                    int(each["version"]),
                    str(path),
                    str(each.get("framework") or "Custom"),
                    str(each.get("framework_version") or ""),
                )
                for each, path in zip(service.models, models)
            ],
            app_root=str(work),
            source_directory=str(work / service.source_directory),
            entry_script=service.entry_script,
            workers=settings.workers,
            concurrency=settings.concurrency,
            queue_length=settings.queue_length,
            queue_wait_ms=settings.queue_wait_ms,
            scoring_timeout_ms=settings.scoring_timeout_ms,
            authentication=Authentication(mode, "" if mode == NO_KEY else str(Path(service.folder) / ACCESS)),
            allow_unauthenticated=settings.allow_unauthenticated,
            user_token_hash=service.user_token_hash,
            cors_origins=list(settings.cors_origins),
            batch=Batch(settings.batch.size, settings.batch.wait_ms),
            drain_seconds=settings.drain_seconds,
            memory_limit_bytes=None if settings.memory_gb is None else int(settings.memory_gb * (1 << 30)),
            max_request_bytes=settings.max_request_bytes,
            log_requests=settings.log_requests,
            share_numbers=settings.autoscale.enabled,
        ).as_dict()
    write_private(path, json.dumps(document))
    return path


def argv(service: ServicePlan, python: str, settings: Path) -> list[str]:
    module = "runyard.serving.gateway" if service.role == states.GATEWAY else "runyard.serving"
    return [python, "-m", module, str(settings)]


class Process:
    """One process of a replica. `exit` is None while it lives; of one that a former runner has started it is not known
    how it ended, and `Exit(None, None)` stands for that."""

    def __init__(self, launched: Launched, child: subprocess.Popen[bytes] | None = None) -> None:
        self.launched, self._child = launched, child
        self.pid = launched.pid
        self.began = time.monotonic()
        self.exit: Exit | None = None

    @staticmethod
    def start(
        arguments: Sequence[str], work: Path, variables: Mapping[str, str], log: Path, enter: Callable[[], None] | None
    ) -> Process:
        descriptor = -1
        try:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            child = subprocess.Popen(
                list(arguments),
                cwd=work,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                preexec_fn=enter,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise RunProblem("LaunchFailed", f"{arguments[0]} could not be started: {error}.") from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return Process(Launched(child.pid, started(child.pid)), child)

    def look(self) -> Exit | None:
        """How it ended; None while it lives."""
        if self.exit is None:
            if self._child is None:
                if not alive(self.pid, self.launched.started):
                    self.exit = Exit(None, None)
            else:
                status = self._reaped()
                if status is not None:
                    self.exit = exits.from_wait_status(status)
        return self.exit

    def drain(self) -> None:
        """Ask it to end: it answers what it has begun first."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _reaped(self) -> int | None:
        assert self._child is not None
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid == 0:
            return None
        self._child.returncode = status  # Popen must not wait for that id again
        return status

    def _signal(self, number: signal.Signals) -> None:
        if self.look() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)


def read_status(folder: Path) -> WorkerStatus | None:
    """What the process has last told of itself."""
    try:
        return WorkerStatus.read(folder / FOLDER / "status.json")
    except (BadFile, OSError, TypeError):
        return None


def is_waited_for(folder: Path) -> bool:
    """Whether somebody waits in a gateway for the first replica."""
    try:
        return bool(read_object(folder / FOLDER / "status.json").get("waiting"))
    except (BadFile, OSError):
        return False


def forget_status(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        (folder / FOLDER / "status.json").unlink()
