"""The SDK's connection to the server: which server to use, and refusals turned into the exceptions of SDK v1."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Iterator, Mapping

from runyard.client.http import Client, ClientProblem, Locator, Params, Stream
from runyard.contracts import home as homes
from runyard.sdk.exceptions import (
    AuthenticationException,
    AzureMLException,
    ServiceException,
    SnapshotException,
    UserErrorException,
    WorkspaceException,
)

_EXCEPTIONS: Mapping[str, type[AzureMLException]] = {
    "not_authenticated": AuthenticationException,
    "not_allowed": AuthenticationException,
    "workspace_not_found": WorkspaceException,
    "workspace_exists": WorkspaceException,
    "workspace_not_empty": WorkspaceException,
    "snapshot_not_found": SnapshotException,
    "bad_manifest": SnapshotException,
    "bad_pack": SnapshotException,
    "content_mismatch": SnapshotException,
    "objects_missing": SnapshotException,
}


def sdk_exception(problem: ClientProblem) -> AzureMLException:
    """The exception of SDK v1 for a request that was refused or got no response."""
    message = f"{problem.title} {problem.help}".strip()
    kind = _EXCEPTIONS.get(problem.code)
    if kind is not None:
        return kind(message, inner_exception=problem)
    if 400 <= problem.status < 500:
        return UserErrorException(message, inner_exception=problem)
    return ServiceException(problem)


def problem_code(error: AzureMLException) -> str:
    """The code of the refusal that an exception was made from; empty when it was made otherwise."""
    inner = error.inner_exception
    return inner.code if isinstance(inner, ClientProblem) else ""


class Service:
    """A `Client` whose refusals are raised as SDK v1's exceptions; `client` raises them unchanged."""

    def __init__(self, client: Client, home: Path | None = None, of_run: bool = False) -> None:
        self.client = client
        self.home = home  # of the server, when it runs on this machine
        self.of_run = of_run  # whether the token is that of the run which this process belongs to

    @property
    def url(self) -> str:
        return self.client.url

    def get(self, path: str, params: Params | None = None, **options: Any) -> Any:
        with _translated():
            return self.client.get(path, params, **options)

    def put(self, path: str, value: Any = None, **options: Any) -> Any:
        with _translated():
            return self.client.put(path, value, **options)

    def post(self, path: str, value: Any = None, **options: Any) -> Any:
        with _translated():
            return self.client.post(path, value, **options)

    def patch(self, path: str, value: Any) -> Any:
        with _translated():
            return self.client.patch(path, value)

    def delete(self, path: str, **options: Any) -> Any:
        with _translated():
            return self.client.delete(path, **options)

    @contextmanager
    def stream(self, path: str, params: Params | None = None, **options: Any) -> Iterator[Stream]:
        with _translated(), self.client.stream(path, params, **options) as answer:
            yield answer


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ClientProblem as problem:
        raise sdk_exception(problem) from None


_local: dict[tuple[int, Path], Service] = {}


def local_service(home: Path | None = None) -> Service:
    """The server of a home on this machine (by default, the user's), started when it does not run."""
    home = homes.home() if home is None else home
    key = (os.getpid(), home)
    service = _local.get(key)
    if service is None:
        from runyard.client.server_process import address, ensure_server

        with _translated():
            url = address(home)
        token = homes.read_token(home)
        service = Service(Client(Locator(url, token, homes.server_file(home), partial(ensure_server, home))), home)
        _local[key] = service
        _adopt_journals(home)
    return service


def _adopt_journals(home: Path) -> None:
    """Have what interactive runs left after a crash delivered. Mostly there is nothing, and nothing is loaded."""
    with suppress(FileNotFoundError):
        if os.listdir(home / "telemetry"):
            from runyard.sdk.telemetry import telemetry

            telemetry.adopt(home)


def remote_service(url: str) -> Service:
    """A server elsewhere; its token is in RUNYARD_TOKEN."""
    token = os.environ.get("RUNYARD_TOKEN")
    if not token:
        raise AuthenticationException(
            f"The workspace is on the server {url}, and there is no token for it. "
            "Set RUNYARD_TOKEN to the token that the server's operator gave you."
        )
    return Service(Client(Locator(url.rstrip("/"), token)))


def run_service() -> Service:
    """The server, from inside a run: with the run's token, which reaches its workspace."""
    return Service(Client(Locator.of_run()), of_run=True)


def inside_a_run() -> bool:
    return all(os.environ.get(f"AZUREML_{name}") for name in ("RUN_ID", "RUN_TOKEN", "SERVICE_ENDPOINT"))


def find_service(server: str | None = None) -> Service:
    """The server to use by default: `server` (of a config.json), RUNYARD_SERVER, or this machine's.

    Inside a run it is the run's server, with the run's token: what a script can do is the same on every machine. A
    script that needs more gets the user's token in its environment variables, as RUNYARD_SERVER and RUNYARD_TOKEN.
    """
    named = server or os.environ.get("RUNYARD_SERVER")
    if inside_a_run() and not (named and os.environ.get("RUNYARD_TOKEN")):
        return run_service()
    return remote_service(named) if named else local_service()
