"""What a service's processes are told, and what they tell: `python -m runyard.serving settings.json`.

The node runner writes the settings and starts that command in the service's environment. The process listens, starts
the workers, and writes `status.json` whenever something changes. SIGTERM makes it drain: it takes no more connections,
answers what is under way, and exits with 0. It exits with `INIT_FAILED` when the entry script or the model cannot be
loaded; the reason is then in `status.json` and on standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runyard.system.json_files import BadFile, made_of, read_object
from runyard.system.records import asdict, field, record

INIT_FAILED = 3
"""The exit code when the entry script or a model cannot be loaded: starting again would not help."""

STARTING, READY, FAILED, DRAINING = "starting", "ready", "failed", "draining"
"""The states in `status.json`."""

USER_TOKEN_HEADER = "x-runyard-token"
"""The header by which a user shows the token whose hash is `user_token_hash`, or what `access.owner_token` makes of it,
and gets errors in full."""

MODES = ("none", "key", "token")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address to listen on.

    >>> [is_loopback(each) for each in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "127.evil.example")]
    [True, True, True, False, False]
    """
    first, *others = host.split(".")
    numbers = len(others) == 3 and all(each.isdecimal() for each in others)
    return host in ("localhost", "::1") or (first == "127" and numbers)


class BadSettings(ValueError):
    """Settings that no worker can be started with; the message says which, and what would do."""


@record(frozen=True)
class ServedModel:
    """A model of the service, as it lies on this machine."""

    name: str
    version: int
    path: str  # azureml-models/<name>/<version>, which holds one file or folder
    framework: str = "Custom"
    framework_version: str = ""
    custom: dict[str, Any] = field(default_factory=dict)  # what a runtime may want to know beyond this


@record(frozen=True)
class Authentication:
    """Who may ask. `file` is a `contracts.services.access.Access`, looked at again when it changes."""

    mode: str = "none"  # none, key or token
    file: str = ""


@record(frozen=True)
class Batch:
    """Requests that are answered by one call of the model: at most `size`, gathered for at most `wait_ms`."""

    size: int = 1  # 1: no batches
    wait_ms: float = 0.0  # 0: what is there at the same time, and nothing waits


@record(frozen=True)
class WorkerSettings:
    service: str
    status: str  # the path of status.json
    revision: int = 1
    replica: int = 0
    host: str = "127.0.0.1"
    port: int = 0  # 0: any; status.json tells it
    listener: str = ""  # where peers hand over the listening socket (`serving.listener`); "": nowhere
    models: list[ServedModel] = field(default_factory=list)
    app_root: str = ""  # holds azureml-models/, and swagger files of the user's
    source_directory: str = ""  # put on the path of the entry script, which is relative to it
    entry_script: str | None = None  # None: no code, the runtime is chosen by the model's framework
    workers: int = 1
    concurrency: int = 1  # calls of run() at a time in each worker
    queue_length: int = 100  # requests that may wait in each worker; beyond it, 503
    queue_wait_ms: int = 0  # for how long they may wait; 0: for as long as a call may take
    scoring_timeout_ms: int = 3_600_000
    authentication: Authentication = field(default_factory=Authentication)
    allow_unauthenticated: bool = False  # whether others than this machine may be served with mode none
    user_token_hash: str = ""
    cors_origins: list[str] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    drain_seconds: float = 10.0
    memory_limit_bytes: int | None = None  # of all workers together; one beyond its part of it is replaced
    max_request_bytes: int = 256 * 1024 * 1024
    log_requests: bool = True
    share_numbers: bool = False  # leave numbers beside status.json, also of one worker, for whoever scales the service

    def __post_init__(self) -> None:
        self._check("authentication", self.authentication.mode in MODES, f"its mode must be one of {', '.join(MODES)}")
        guarded = self.authentication.mode != "none"
        self._check("authentication", not guarded or bool(self.authentication.file), "it needs the file with the keys")
        self._check("workers", self.workers >= 1, "there must be one or more")
        self._check("concurrency", self.concurrency >= 1, "it must be 1 or more")
        self._check("queue_length", self.queue_length >= 0, "it must be 0 or more")
        right = self.batch.size >= 1 and self.batch.wait_ms >= 0
        self._check("batch", right, "size must be 1 or more, wait_ms 0 or more")
        self._check("port", 0 <= self.port < 65536, "it must be between 0 and 65535")
        if not is_loopback(self.host) and not guarded and not self.allow_unauthenticated:
            raise BadSettings(
                f"The service {self.service!r} would answer everybody who reaches {self.host}: its authentication is "
                "'none'. Turn on keys or tokens, let it listen on 127.0.0.1, or set allow_unauthenticated to true."
            )

    def _check(self, name: str, right: bool, rule: str) -> None:
        if not right:
            raise BadSettings(f"{name} of the service {self.service!r} is {getattr(self, name)!r}: {rule}.")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: dict[str, Any], path: Path = Path("settings.json")) -> WorkerSettings:
        """Fields that another version has written are ignored. BadFile, BadSettings."""
        given = dict(document)
        if isinstance(given.get("models"), list):
            given["models"] = [made_of(ServedModel, each, path) for each in given["models"]]
        for name, kind in (("authentication", Authentication), ("batch", Batch)):
            if name in given:
                given[name] = made_of(kind, given[name], path)
        return made_of(WorkerSettings, given, path)

    @staticmethod
    def read(path: Path) -> WorkerSettings:
        return WorkerSettings.from_dict(read_object(path), path)


@record(frozen=True)
class WorkerError:
    """Why a service does not come up, or why a worker ended. `help` says what to do."""

    type: str
    message: str
    file: str = ""  # the user's, where the error is in it
    line: int = 0
    traceback: str = ""
    help: str = ""


@record(frozen=True)
class WorkerStatus:
    """What `status.json` holds. `workers`: [{number, pid, state, restarts, memory_bytes, ready_seconds}] of those that
    live; `restarts` of all."""

    state: str = STARTING
    pid: int = 0
    host: str = ""
    port: int = 0
    revision: int = 0
    replica: int = 0
    workers: list[dict[str, Any]] = field(default_factory=list)
    error: WorkerError | None = None  # of the service, or of the last worker that ended
    restarts: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def read(path: Path) -> WorkerStatus | None:
        """None while there is none yet."""
        try:
            document = read_object(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if isinstance(document.get("error"), dict):
            document["error"] = made_of(WorkerError, document["error"], path)
        return made_of(WorkerStatus, document, path)


__all__ = [
    "DRAINING",
    "FAILED",
    "INIT_FAILED",
    "READY",
    "STARTING",
    "USER_TOKEN_HEADER",
    "Authentication",
    "BadFile",
    "BadSettings",
    "Batch",
    "ServedModel",
    "WorkerError",
    "WorkerSettings",
    "WorkerStatus",
    "is_loopback",
]
