"""Containers that live for one step of a build: made, followed to their end, and removed, whatever happens.

Their names identify the process that made them: if it is killed, the next build on this machine removes what it left.
"""

from __future__ import annotations

import os
import re
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator

from runyard.environments.command import lines
from runyard.environments.containers.following import follow
from runyard.environments.problem import EnvironmentProblem
from runyard.system.processes import started

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_NAME = re.compile(r"/?runyard-build\.(?P<host>[^.]*)\.(?P<pid>\d+)\.(?P<start>[0-9A-Za-z_-]*)\.[0-9a-f]+")


@dataclass(frozen=True)
class Step:
    """How a step ended, and what it wrote."""

    code: int
    output: list[str]


def run(
    client: DockerClient,
    image: str,
    command: list[str],
    report: Callable[[str], None],
    check: Callable[[], None],
    **options: Any,
) -> Step:
    """Run the image's shell with `command` to its end, and forget the container."""
    with container(client, image, command, **options) as made:
        return finish(client, made, report, check)


@contextmanager
def container(client: DockerClient, image: str, command: list[str], **options: Any) -> Iterator[Container]:
    """A container of an image for its shell, which gets `command`; not started yet, and removed at the end."""
    shell = ["/bin/sh"]
    if (client.images.get(image).attrs.get("Config") or {}).get("Entrypoint"):
        options["entrypoint"] = shell
    else:  # the image shall have none if it is made of this container
        command = shell + command
    made = client.containers.create(image, command, name=_name(), **options)
    try:
        yield made
    finally:
        made.remove(force=True, v=True)


def finish(client: DockerClient, made: Container, report: Callable[[str], None], check: Callable[[], None]) -> Step:
    """Start a container, and follow it to its end. When `check` raises, the container is the caller's to remove."""
    import docker

    try:
        made.start()
    except docker.errors.APIError as error:
        raise _not_started(str(made.attrs.get("Config", {}).get("Image", "")), error) from error
    output: list[str] = []
    for line in lines(follow(client, lambda: made.logs(stream=True, follow=True), check)):
        output.append(line)
        report(line)
    return Step(int(made.wait()["StatusCode"]), output)


def sweep(client: DockerClient) -> None:
    """Remove what builders that were killed have left on this machine."""
    import docker

    for each in client.containers.list(all=True, ignore_removed=True, filters={"name": "runyard-build."}):
        match = _NAME.fullmatch(each.name or "")
        if match is None or match["host"] != _host() or _start(int(match["pid"])) == match["start"]:
            continue
        with suppress(docker.errors.APIError):  # another process sweeps, too
            each.remove(force=True, v=True)


def _name() -> str:
    return f"runyard-build.{_host()}.{os.getpid()}.{_start(os.getpid())}.{os.urandom(4).hex()}"


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname())


def _start(pid: int) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", started(pid) or "gone")


def _not_started(image: str, error: Any) -> EnvironmentProblem:
    message = str(error.explanation or error)
    if "exec format error" in message:
        return EnvironmentProblem(
            "ImageOfAnotherMachine",
            f"The image {image} is for another kind of processor: {message}",
            "Name an image that is there for this machine's.",
        )
    if "/bin/sh" in message:
        return EnvironmentProblem(
            "ImageWithoutShell",
            f"The image {image} has no /bin/sh, which starts the script: {message}",
            "Use an image with a shell: the -slim variants have one, `scratch` and distroless ones have not.",
        )
    return EnvironmentProblem("ContainerNotStarted", f"A container of {image} cannot be started: {message}")
