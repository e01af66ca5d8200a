"""The container engine of this machine, Docker or Podman: where it listens, and a client that speaks to it.

The sockets are looked at with nothing but the standard library, so that a machine without an engine finds out at once;
docker-py is loaded when there is somebody to talk to.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping
from urllib.parse import quote

from runyard.environments.problem import EnvironmentProblem
from runyard.system.json_files import BadFile, read_object

if TYPE_CHECKING:
    from docker import DockerClient

ANSWER_WITHIN = 30  # seconds, for the first answer of an engine
TIMEOUT = 1800  # seconds, for a step of its work: committing a large image takes minutes

_UNIX = "unix://"


def open_engine() -> DockerClient:
    """A client of the first engine that answers; close it after use. EnvironmentProblem lists what was tried."""
    seen: list[str] = []
    for address in addresses(os.environ):
        trouble = _trouble(address)
        if trouble is None:
            try:
                return _connect(address)
            except _docker().errors.DockerException as error:
                trouble = f"it does not answer: {error}"
        seen.append(f"{address}: {trouble}")
    raise _missing(seen)


def in_sight() -> bool:
    """Whether an engine seems to be there. Nothing is loaded and nobody is asked."""
    return any(_trouble(address) is None for address in addresses(os.environ))


def has_image(name: str) -> bool:
    """Whether an engine has the image. Every run in a container asks this before it starts, so it is made quick."""
    for address in addresses(os.environ):
        if _trouble(address) is not None:
            continue
        if not address.startswith(_UNIX):
            return _has_image_by_client(name)
        connection = _UnixConnection(address[len(_UNIX) :])
        try:
            connection.request("GET", f"/images/{quote(name)}/json")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            continue  # removed since; the next may be there
        finally:
            connection.close()
    return False


def addresses(variables: Mapping[str, str]) -> list[str]:
    """Where an engine may listen, the likeliest first. Who sets DOCKER_HOST means that one, and no other."""
    if variables.get("DOCKER_HOST"):
        return [variables["DOCKER_HOST"]]
    runtime = variables.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = [
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    ]
    return list(dict.fromkeys([*_context(variables), *(_UNIX + path for path in sockets)]))


def is_rootless(client: DockerClient) -> bool:
    """Whether root in a container is the user who runs the engine."""
    about: dict[str, Any] = client.info()
    return any("rootless" in str(option) for option in about.get("SecurityOptions") or ())


def _context(variables: Mapping[str, str]) -> Iterator[str]:
    """The address that `docker context use` has chosen."""
    folder = Path(variables.get("DOCKER_CONFIG") or "~/.docker").expanduser()
    name = variables.get("DOCKER_CONTEXT") or _read(folder / "config.json").get("currentContext") or "default"
    if name != "default":
        digest = hashlib.sha256(str(name).encode()).hexdigest()
        about = _read(folder / "contexts" / "meta" / digest / "meta.json")
        host = ((about.get("Endpoints") or {}).get("docker") or {}).get("Host")
        if host:
            yield str(host)


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_object(path)
    except (OSError, BadFile):
        return {}


def _trouble(address: str) -> str | None:
    """Why an address cannot be used, as far as can be seen without asking; None when it may be."""
    if not address.startswith(_UNIX):
        return None
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(ANSWER_WITHIN)
            probe.connect(address[len(_UNIX) :])
    except FileNotFoundError:
        return "there is no such socket"
    except PermissionError:
        return f"user {os.getuid()} may not use it"
    except OSError as error:
        refused = error.errno == errno.ECONNREFUSED
        return "nobody listens there" if refused else str(error)
    return None


def _connect(address: str) -> DockerClient:
    docker = _docker()
    if address == os.environ.get("DOCKER_HOST"):
        client = docker.from_env(timeout=ANSWER_WITHIN)  # reads DOCKER_TLS_VERIFY and DOCKER_CERT_PATH
    else:
        client = docker.DockerClient(base_url=address, timeout=ANSWER_WITHIN)
    client.api.timeout = TIMEOUT
    return client  # type: ignore[no-any-return]


def _docker() -> Any:
    """docker-py. The node runner starts without installed packages; here they are put in reach."""
    try:
        import docker
    except ImportError:
        import site

        site.main()
        try:
            import docker
        except ImportError:
            raise EnvironmentProblem(
                "ContainerEngineMissing",
                f"docker-py, which speaks to container engines, is not in reach of {sys.executable}.",
                f"Install it there: {sys.executable} -m pip install docker",
            ) from None
    return docker


def _has_image_by_client(name: str) -> bool:
    try:
        client = open_engine()
    except EnvironmentProblem:
        return False
    try:
        client.images.get(name)
    except _docker().errors.ImageNotFound:
        return False
    finally:
        client.close()
    return True


def _missing(seen: list[str]) -> EnvironmentProblem:
    looked = "; ".join(seen)
    if any("may not use it" in each for each in seen):
        return EnvironmentProblem(
            "ContainerEngineMissing",
            f"The run needs a container, and the container engine of this machine may not be used ({looked}).",
            "Let the user of the server use it (`sudo usermod -aG docker $USER`, then log in again and restart the "
            "server), set DOCKER_HOST to an engine of its own, or leave the image away.",
        )
    return EnvironmentProblem(
        "ContainerEngineMissing",
        f"The run needs a container, and no container engine answers on this machine ({looked}).",
        "Start Docker or Podman (`systemctl start docker`, `systemctl --user start podman.socket`), set DOCKER_HOST "
        "for the server if the engine listens elsewhere, or leave the image away.",
    )


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=ANSWER_WITHIN)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
