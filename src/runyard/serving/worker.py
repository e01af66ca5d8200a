"""A worker of a service: loads the script or the model, and answers requests until it is told to drain."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import time

from runyard.contracts.services.worker import INIT_FAILED, WorkerSettings
from runyard.serving import streams
from runyard.serving.application import Application
from runyard.serving.calls import STUCK_SECONDS
from runyard.serving.failure import failure
from runyard.serving.http.loop import Loop
from runyard.serving.scorer import Scorer, ScriptScorer
from runyard.serving.scripts import script
from runyard.system.records import asdict

STUCK = 4
"""The exit code of a worker whose threads are all held by calls that do not end."""


def work(settings: WorkerSettings, listening: socket.socket, number: int, control: socket.socket | None) -> int:
    """Serve until SIGTERM, or until `control`, the line to the supervisor, is closed. The exit code."""
    _prepare(settings)
    try:
        application = Application(settings, _scorer(settings), number)
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises, also SystemExit
        return _failed(error, settings, control)
    gc.collect()
    gc.freeze()  # what is loaded stays: the collector need not look at it
    served = _Served(settings, application, listening)
    if control is not None:
        served.follow(control)
        control.sendall(b'{"state": "ready"}\n')
    return served.serve()


class _Served:
    """The loop, the calls and the end of them."""

    def __init__(self, settings: WorkerSettings, application: Application, listening: socket.socket) -> None:
        self._settings, self._application, self._calls = settings, application, application.calls
        self._loop = Loop(listening, application.arrived, settings.max_request_bytes)
        self._ends_at = float("inf")
        application.attach(self._loop)
        self._loop.signalled = self._signalled
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the supervisor hears it too
        signal.set_wakeup_fd(self._loop.wake_descriptor, warn_on_full_buffer=False)
        self._loop.take()

    def follow(self, control: socket.socket) -> None:
        control.setblocking(True)
        self._loop.add(control.fileno(), lambda: self._told(control))

    def serve(self) -> int:
        self._calls.serve(self._turn_ended)
        self._application.log.write(time.monotonic(), at_once=True)
        signal.set_wakeup_fd(-1)
        self._loop.close()
        return 0

    def _signalled(self, number: int) -> None:
        if number == signal.SIGTERM:
            self._drain()

    def _told(self, control: socket.socket) -> None:
        if not control.recv(64):
            self._loop.remove(control.fileno())
            self._drain()

    def _drain(self) -> None:
        if not self._loop.draining:
            self._loop.drain()
            self._ends_at = self._loop.now + self._settings.drain_seconds

    def _turn_ended(self) -> None:
        self._application.turn_ended()
        if self._calls.stuck and not self._loop.draining:
            print(
                f"A call has not ended {STUCK_SECONDS:.0f} s after its time-out, and no thread is left for others: "
                "this worker is replaced.",
                file=sys.stderr,
                flush=True,
            )
            self._drain()
        if self._loop.draining:
            under_way = self._loop.connections or self._calls.waiting or self._calls.running
            if not under_way or self._loop.now >= self._ends_at or (self._calls.stuck and not self._loop.connections):
                if self._calls.running:  # a call that does not end would keep its thread, and the process
                    self._application.log.write(self._loop.now, at_once=True)
                    sys.stderr.flush()
                    os._exit(STUCK if self._calls.stuck else 0)
                self._calls.stop()


def _prepare(settings: WorkerSettings) -> None:
    """What a script finds around it, as on Azure."""
    streams.install()
    root = os.path.abspath(settings.app_root or os.getcwd())
    os.environ.update(_variables(settings, root))
    os.chdir(root)


def _variables(settings: WorkerSettings, root: str) -> dict[str, str]:
    made = {"AML_APP_ROOT": root, "SERVICE_NAME": settings.service}
    made["AZUREML_SOURCE_DIRECTORY"] = settings.source_directory
    if settings.entry_script:
        made["AZUREML_ENTRY_SCRIPT"] = settings.entry_script
    if len(settings.models) == 1:
        made["AZUREML_MODEL_DIR"] = settings.models[0].path
    elif settings.models:
        paths = [os.path.dirname(os.path.dirname(os.path.abspath(each.path))) for each in settings.models]
        made["AZUREML_MODEL_DIR"] = os.path.commonpath(paths)
    return made


def _scorer(settings: WorkerSettings) -> Scorer:
    if settings.entry_script:
        folder = os.path.abspath(settings.source_directory or os.getcwd())
        return ScriptScorer(script.load(folder, settings.entry_script), folder)
    from runyard.serving.model_scorer import ModelScorer, threads_for  # it needs numpy, which scripts may not

    return ModelScorer(settings.models, settings.batch, threads_for(settings.workers))


def _failed(error: BaseException, settings: WorkerSettings, control: socket.socket | None) -> int:
    told = failure(error, os.path.abspath(settings.source_directory or "."))
    where = f" ({told.file}, line {told.line})" if told.file else ""
    print(f"The service cannot start: {told.message}{where}\n{told.traceback}{told.help}", file=sys.stderr, flush=True)
    if control is not None:
        control.sendall(json.dumps({"state": "failed", "error": asdict(told)}).encode() + b"\n")
    return INIT_FAILED
