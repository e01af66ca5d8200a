"""The address that MLflow's client finds in a run. Its port is open before the script starts; what answers there is
loaded when somebody connects for the first time."""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Mapping

from runyard.contracts.plan import Plan
from runyard.node.log import log_line

if TYPE_CHECKING:
    import socket

LOOPBACK = "127.0.0.1"
WAITING = 128
ENDS_WITHIN = 0.5  # seconds for the thread to notice that nobody can connect any more

_URI = "MLFLOW_TRACKING_URI"
_READ = 1 << 20
_SCRIPTS = 8

_SETS = re.compile(rb"(?m)^[^#\n]*\b(?:set_tracking_uri\s*\(|tracking_uri\s*=(?!=|\s*mlflow\.get_tracking_uri\())")
_SETS_VARIABLE = re.compile(rb"(?m)^[^#\n]*\bMLFLOW_TRACKING_URI['\"]\]\s*=(?!=)")
_ASKS = re.compile(rb"\bget_mlflow_tracking_uri\b|\bMLFLOW_TRACKING_URI\b")
"""What names the address that it is given here: the workspace's, or that of the variable."""


class Address:
    """`token` is what the processes of the run show, and nobody else knows."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        from _socket import AF_INET, SOCK_STREAM, socket  # `socket` itself is loaded later

        self._plan, self._folder = plan, folder
        self.token = os.urandom(24).hex()
        self._socket = socket(AF_INET, SOCK_STREAM)
        self._socket.bind((LOOPBACK, 0))
        self._socket.listen(WAITING)
        self.port: int = self._socket.getsockname()[1]
        self._thread: threading.Thread | None = None
        self._connected = self._closed = False

    def variables(self) -> dict[str, str]:
        """What leads MLflow's client here, and to the run of the script."""
        default = self._plan.experiment == "Default"
        return {
            _URI: f"http://{LOOPBACK}:{self.port}/mlflow/{self._plan.workspace}",
            "MLFLOW_TRACKING_TOKEN": self.token,
            "MLFLOW_RUN_ID": self._plan.run_id,
            "MLFLOW_EXPERIMENT_ID": "0" if default else self._plan.experiment_id,
            "MLFLOW_EXPERIMENT_NAME": self._plan.experiment,
        }

    def answer(self) -> None:
        """Answer from now on, in a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mlflow", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Nobody can connect any more, unless somebody has: then the thread goes on."""
        from _socket import SHUT_RDWR

        self._closed = True
        if self._thread is not None and not self._connected:
            with suppress(OSError):
                self._socket.shutdown(SHUT_RDWR)  # which wakes the thread
            self._thread.join(ENDS_WITHIN)
        self._socket.close()

    def _work(self) -> None:
        try:
            descriptor, _ = self._socket._accept()  # type: ignore[attr-defined]  # `socket.accept` is made of it
            self._connected = True
            from runyard.node.mlflow.listener import listen

            listen(self._taken(), descriptor, self._plan, self._folder, self.token)
        except Exception as error:  # noqa: BLE001 - the run goes on without
            if not self._closed:
                log_line(f"MLflow's requests are not answered any more: {error!r}")

    def _taken(self) -> socket.socket:
        import socket

        return socket.socket(fileno=self._socket.detach())


def wanted(plan: Plan, work: Path, inherited: Mapping[str, str]) -> bool:
    """Whether a run is given an address: not where its user has named another one, in a variable or in the script."""
    launch = plan.launch
    if any(known.get(_URI) for known in (inherited, launch.shell, launch.environment_variables)):
        return False
    texts = [_text(work, name) for name in _scripts(launch.script, launch.command)]
    return not any(_SETS_VARIABLE.search(text) or (_SETS.search(text) and not _ASKS.search(text)) for text in texts)


def _scripts(script: str | None, command: str | None) -> list[str]:
    """The Python files that a run starts, as far as its command names them."""
    if command is not None:
        parts = [part.strip("'\";|&()") for part in command[:_READ].split() if ".py" in part]
        return [part for part in parts if part.endswith(".py")][:_SCRIPTS]
    return [script] if script and script.endswith(".py") else []


def _text(work: Path, name: str) -> bytes:
    try:
        with open(f"{work}/{name}", "rb") as file:
            return file.read(_READ)
    except (OSError, ValueError):
        return b""
