"""Builds the image of an environment: fetched or built from a Dockerfile, with the packages on top, tagged by its key.

The tag is set when all is done, so an image under it is whole. Images as they are get the tag as a second name.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator

from runyard.contracts.environment import Specification
from runyard.contracts.secrets import names_in, reveal
from runyard.environments.builder import Builder, Built, Order
from runyard.environments.containers import failures, layers, steps
from runyard.environments.containers.engine import has_image, in_sight, open_engine
from runyard.environments.containers.following import follow
from runyard.environments.containers.inside import Inside, look
from runyard.environments.problem import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "runyard/environment"
SERVED = "runyard://"
HUB = "https://index.docker.io/v1/"

_STEP = re.compile(r"step \d+(?:/\d+)?\s*: (.*)", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(https?|git)://|git@|github\.com/", re.IGNORECASE)


class ContainerBuilder(Builder):
    name = "container"

    def build(self, order: Order, folder: Path) -> Built:
        client = open_engine()
        try:
            return _build(client, order, folder)
        finally:
            client.close()

    def intact(self, built: Built) -> bool:
        return has_image(built.image)

    def size(self, built: Built) -> int:
        """How many bytes the image takes, what it shares with others included; 0 when it was removed."""
        client = open_engine()
        import docker  # in reach from now on

        try:
            return int(client.images.get(built.image).attrs.get("Size") or 0)
        except docker.errors.ImageNotFound:
            return 0
        finally:
            client.close()

    def remove(self, built: Built) -> None:
        """Remove the image; layers that others use stay, and so does a base image under its own name."""
        if not in_sight():
            return
        client = open_engine()
        import docker  # in reach from now on

        try:
            client.images.remove(built.image)
        except docker.errors.ImageNotFound:
            return
        finally:
            client.close()


def tag_of(key: str) -> str:
    """
    >>> tag_of("0a1b")
    'runyard/environment:0a1b'
    """
    return f"{REPOSITORY}:{key}"


def _build(client: DockerClient, order: Order, folder: Path) -> Built:
    specification = order.specification
    key = specification.key(order.relax)
    changes: list[str] = []
    steps.sweep(client)
    if _has(client, tag_of(key)):
        order.report(f"The image {tag_of(key)} is there already")
    else:
        base = _base(client, order)
        inside = _look(client, base, order)
        if specification.packages:
            changes = layers.install(client, order, base, inside, folder, (REPOSITORY, key))
        else:
            client.api.tag(base, REPOSITORY, key, force=True)
    inside = _look(client, tag_of(key), order)
    interpreter = inside.python or specification.interpreter or "python"
    return Built(interpreter, image=tag_of(key), python=inside.version, changes=changes)


def _look(client: DockerClient, image: str, order: Order) -> Inside:
    wanted = order.specification.interpreter if order.specification.user_managed else ""
    inside = look(client, image, wanted, order.check)
    if not inside.python and wanted not in ("", "python"):
        raise EnvironmentProblem(
            "InterpreterNotFound",
            f"There is no {wanted} in the image {order.specification.image or image}.",
            "Set `environment.python.interpreter_path` to a Python of the image, or leave it away.",
        )
    return inside


def _has(client: DockerClient, image: str) -> bool:
    import docker

    try:
        client.images.get(image)
    except docker.errors.ImageNotFound:
        return False
    except docker.errors.APIError as error:
        raise failures.of_fetching(image, str(error.explanation or error)) from error
    return True


def _base(client: DockerClient, order: Order) -> str:
    """What the packages go on top of: the id or the name of an image that is there now."""
    specification = order.specification
    if specification.dockerfile or specification.context:
        return _from_dockerfile(client, order)
    image = full_name(specification)
    if not _has(client, image):
        _fetch(client, order, image)
    return image


def full_name(specification: Specification) -> str:
    """The image with its registry, as SDK v1 puts the two together.

    >>> full_name(Specification(image="team/image:2", registry="https://yard.example.com/"))
    'yard.example.com/team/image:2'
    >>> full_name(Specification(image="ghcr.io/team/image:2", registry="ghcr.io"))
    'ghcr.io/team/image:2'
    """
    registry = re.sub(r"^https?://", "", specification.registry).rstrip("/")
    if not registry or "docker.io" in registry or _registry_in(specification.image):
        return specification.image
    return f"{registry}/{specification.image}"


def _registry_in(image: str) -> str:
    """The registry that an image's name begins with; empty for Docker's own."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else ""


def _log_in(client: DockerClient, order: Order) -> dict[str, str] | None:
    """Give the credentials of the specification to the engine, for this connection only; they are also returned."""
    specification = order.specification
    if not specification.registry_user and not specification.registry_password:
        return None
    import docker

    registry = specification.registry or _registry_in(specification.image) or HUB
    user, password = (
        reveal(text, order.secrets) for text in (specification.registry_user, specification.registry_password)
    )
    order.report(f"Logging in at {registry} as {user}")
    try:
        client.login(user, password, registry=registry, reauth=True, dockercfg_path="/nonexistent")
    except docker.errors.APIError as error:
        message = str(error.explanation or error)
        raise failures.of_logging_in(registry, user, message) from error
    return {"username": user, "password": password}


def _fetch(client: DockerClient, order: Order, image: str) -> None:
    import docker
    from docker.utils import parse_repository_tag

    credentials = _log_in(client, order)
    order.report(f"Fetching the image {image}")
    repository, tag = parse_repository_tag(image)
    try:
        stream = follow(
            client,
            lambda: client.api.pull(repository, tag or "latest", stream=True, decode=True, auth_config=credentials),
            order.check,
        )
        for event in stream:
            if "error" in event:
                raise failures.of_fetching(image, str(event["error"]))
            if not event.get("progressDetail"):
                order.report(" ".join(str(event[name]) for name in ("id", "status") if event.get(name)))
    except docker.errors.APIError as error:
        raise failures.of_fetching(image, str(error.explanation or error)) from error
    if not _has(client, image):
        raise failures.of_fetching(image, "not found")


def _from_dockerfile(client: DockerClient, order: Order) -> str:
    import docker

    _log_in(client, order)
    options = _source(order)
    try:
        stream = follow(
            client,
            lambda: client.api.build(
                decode=True, rm=True, forcerm=True, network_mode="host", use_config_proxy=True, **options
            ),
            order.check,
        )
        return _follow_build(stream, order)
    except docker.errors.APIError as error:
        raise failures.of_building(str(error.explanation or error), "", ()) from error


def _source(order: Order) -> dict[str, Any]:
    """What is built: the text of a Dockerfile, a folder, or an address that the engine fetches by itself."""
    specification = order.specification
    if specification.dockerfile:
        if names_in(specification.dockerfile):
            order.report("The Dockerfile holds credentials: whoever may use this engine can read them in the image")
        return {"fileobj": io.BytesIO(reveal(specification.dockerfile, order.secrets).encode())}
    where = reveal(specification.context, order.secrets)
    dockerfile = specification.context_dockerfile or "Dockerfile"
    if _ADDRESS.match(where):
        return {"path": where, "dockerfile": dockerfile}
    folder = order.fetch(where)
    if not (folder / dockerfile).is_file():
        raise EnvironmentProblem(
            "DockerfileNotFound",
            f"There is no {dockerfile} in the build context of the environment.",
            "`DockerBuildContext.from_local_directory(..., dockerfile_path=...)` takes its path inside the folder.",
        )
    return {"path": str(folder), "dockerfile": dockerfile}


def _follow_build(stream: Iterator[dict[str, Any]], order: Order) -> str:
    image, step = "", ""
    output: list[str] = []
    for event in stream:
        if "error" in event:
            raise failures.of_building(str(event["error"]).strip(), step, output)
        image = (event.get("aux") or {}).get("ID") or image
        text = str(event.get("stream") or "") or _status(event)
        begun = _STEP.match(text.strip())
        if begun is not None:
            step = begun[1].strip()
            output.clear()
        for line in text.splitlines():
            order.report(line)
            if begun is None:
                output.append(line)
    if not image:
        raise failures.of_building("the engine has not told the image's id", step, output)
    return image


def _status(event: dict[str, Any]) -> str:
    if not event.get("status") or event.get("progressDetail"):
        return ""
    return " ".join(str(event[name]) for name in ("id", "status") if event.get(name))
