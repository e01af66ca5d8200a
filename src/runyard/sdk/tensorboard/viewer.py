"""TensorBoard as a process of its own: found, started on a folder, waited for, ended."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Mapping, Sequence

from runyard.sdk.exceptions import UserErrorException
from runyard.system.processes import end_with_parent

HOST = "127.0.0.1"
DEFAULT_PORT = 6006
START_SECONDS = 60.0
STOP_SECONDS = 5.0
LINES = 15


def command() -> list[str] | None:
    """What starts TensorBoard: the package of this interpreter, or the program on PATH; None where it is neither."""
    if importlib.util.find_spec("tensorboard") is not None:
        return [sys.executable, "-m", "tensorboard.main"]
    program = shutil.which("tensorboard")
    return None if program is None else [program]


class Viewer:
    """A TensorBoard that shows one folder."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        port: int = DEFAULT_PORT,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._command, self._folder, self._wanted = list(command), folder, port
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def start(self, seconds: float = START_SECONDS) -> str:
        """Its address, once it answers."""
        port = free_port(self._wanted)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - `stop` closes it
        where = ["--logdir", str(self._folder), "--host", HOST, "--port", str(port)]
        self._process = subprocess.Popen(
            # Several processes may write into one folder; a point is shown within seconds of its flush.
            [*self._command, *where, "--reload_interval", "1", "--reload_multifile", "true"],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=None if self._environment is None else dict(self._environment),
            start_new_session=True,  # Ctrl-C in a notebook is not for it
            preexec_fn=end_with_parent(),
        )
        address = f"http://localhost:{port}/"
        deadline = time.monotonic() + seconds
        while not _answers(f"http://{HOST}:{port}/"):
            if self._process.poll() is not None:
                raise self._failed(f"TensorBoard ended with exit code {self._process.returncode} before it answered")
            if time.monotonic() > deadline:
                raise self._failed(f"TensorBoard did not answer within {seconds:.0f} s")
            time.sleep(0.1)
        return address

    def wait(self) -> int:
        """Until it ends by itself; its exit code."""
        return 0 if self._process is None else self._process.wait()

    def stop(self) -> None:
        """End it, and the process of its own that reads the files."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _failed(self, what: str) -> UserErrorException:
        said = b""
        if self._log is not None:
            self._log.seek(0)
            said = self._log.read()
        self.stop()
        lines = said.decode("utf-8", "replace").splitlines()[-LINES:]
        return UserErrorException("\n".join([f"{what}. It said:" if lines else f"{what}.", *lines]))


def free_port(wanted: int) -> int:
    """The port that was asked for; another one where that is the default and is taken."""
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted < 65536:
        raise UserErrorException(f"A port is a whole number from 0 to 65535, not {wanted!r}.")
    for port in (wanted, 0) if wanted == DEFAULT_PORT else (wanted,):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((HOST, port))
            except OSError:
                continue
            return int(trial.getsockname()[1])
    raise UserErrorException(
        f"TensorBoard cannot use port {wanted}: it is taken. Give another one, or 0 for any that is free."
    )


def _answers(address: str) -> bool:
    # No proxy: the address is of this machine, whatever the user's variables say.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=5) as response:
            return int(response.status) == 200
    except (urllib.error.URLError, OSError):
        return False
