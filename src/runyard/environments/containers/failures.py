"""Why an image could not be fetched or built: messages for its user from the output of engines, registries and pip."""

from __future__ import annotations

import re
from typing import Sequence

from runyard.environments.problem import EnvironmentProblem

SHOWN = 15  # lines of a failed step

_FULL = ("no space left on device", "disk quota exceeded")
_UNREACHABLE = (
    "no such host",
    "dial tcp",
    "i/o timeout",
    "connection refused",
    "network is unreachable",
    "tls handshake",
    "x509:",
    "temporary failure in name resolution",
    "awaiting headers",
    "proxyconnect",
)
_REFUSED = (
    "unauthorized",
    "authentication required",
    "no basic auth",
    "incorrect username",
    "access forbidden",
    "403 forbidden",
    "401",
    "toomanyrequests",
)
_ABSENT = (
    "manifest unknown",
    "not found",
    "repository does not exist",
    "name unknown",
    "no such image",
    "access to the resource is denied",
    "access denied",
)
_SYNTAX = (
    "dockerfile parse error",
    "unknown instruction",
    "cannot be empty",
    "no build stage",
    "requires at least one argument",
    "requires exactly",
    "unknown flag",
    "failed to parse",
    "file with no instructions",
    "cannot locate specified dockerfile",
    "no command given",
    "must have at least",
)
_OFFLINE = (
    "newconnectionerror",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to establish a new connection",
    "network is unreachable",
    "proxyerror",
    "connect timeout",
)


def of_fetching(image: str, message: str) -> EnvironmentProblem:
    """Why an image could not be had from its registry."""
    lower = message.lower()
    if _any(_FULL, lower):
        return _full(f"to fetch the image {image}", message)
    if _any(_UNREACHABLE, lower):
        return EnvironmentProblem(
            "RegistryUnreachable",
            f"The image {image} is not on this machine, and its registry cannot be reached: {message}",
            "Check the network and the proxy of the container engine, bring the image here by hand (`docker pull`, "
            "`docker load`), or name another one.",
        )
    if "invalid reference" in lower or "invalid tag" in lower or "must be lowercase" in lower:
        return EnvironmentProblem(
            "InvalidImageName",
            f"{image!r} is not the name of an image: {message}",
            "It reads registry/name:tag, in lower case: `python:3.11-slim`, `ghcr.io/me/image:1`.",
        )
    if _any(_REFUSED, lower):
        return EnvironmentProblem(
            "RegistryRefused",
            f"The registry does not hand out the image {image}: {message}",
            "Set `environment.docker.base_image_registry` (address, username, password) to who may read it.",
        )
    if _any(_ABSENT, lower):
        return EnvironmentProblem(
            "ImageNotFound",
            f"There is no image {image} on this machine or in its registry: {message}",
            "Check name and tag. For an image that is private, set `environment.docker.base_image_registry`.",
        )
    return EnvironmentProblem(
        "ImageNotFetched", f"The image {image} could not be fetched: {message}", "Try `docker pull` by hand."
    )


def of_logging_in(registry: str, user: str, message: str) -> EnvironmentProblem:
    """Why a registry did not let somebody in."""
    if _any(_UNREACHABLE, message.lower()):
        return EnvironmentProblem(
            "RegistryUnreachable",
            f"The registry {registry} cannot be reached: {message}",
            "Check the address in `environment.docker.base_image_registry`, the network, and the engine's proxy.",
        )
    return EnvironmentProblem(
        "RegistryRefused",
        f"The registry {registry} does not let {user} in: {message}",
        "Check username and password in `environment.docker.base_image_registry`.",
    )


def of_building(message: str, step: str, output: Sequence[str]) -> EnvironmentProblem:
    """Why a Dockerfile could not be built. `step` is the instruction under way, `output` what it has written."""
    lower = message.lower()
    shown = "\n".join(["", *(f"  {line}" for line in output[-SHOWN:] if line.strip())]).rstrip()
    if _any(_FULL, lower) or _any(_FULL, "\n".join(output[-SHOWN:]).lower()):
        return _full("to build the image", message)
    if "buildkit" in lower:
        return EnvironmentProblem(
            "DockerfileNeedsBuildKit",
            f"The Dockerfile uses what only BuildKit knows{_at(step)}: {message}",
            "Write it without `RUN --mount` and `COPY --chmod`, or build the image by hand and name it as base_image.",
        )
    if _any(_SYNTAX, lower):
        return EnvironmentProblem(
            "DockerfileInvalid", f"The Dockerfile cannot be read: {message}", "Correct that line."
        )
    code = re.search(r"returned a non-zero code: (\d+)", message) or re.search(r"exit status (\d+)", message)
    if code is not None:
        return EnvironmentProblem(
            "DockerfileStepFailed",
            f"A step of the Dockerfile ended with exit code {code[1]}{_at(step)}.{shown}",
            "Correct the step. The build log has all that it wrote.",
        )
    if re.match(r"from\b", step, re.IGNORECASE):
        return of_fetching(step.split()[1] if len(step.split()) > 1 else step, message)
    return EnvironmentProblem(
        "DockerfileStepFailed" if step else "ImageNotBuilt",
        f"The image could not be built{_at(step)}: {message}{shown}",
        "Correct the step: files for COPY and ADD come from a build context "
        "(`DockerBuildContext.from_local_directory`).",
    )


def of_installing(image: str, output: Sequence[str]) -> EnvironmentProblem:
    """Why packages could not be installed into an image, from what pip or conda has written."""
    text = "\n".join(output)
    lower = text.lower()
    shown = "\n".join(f"  {line}" for line in output[-SHOWN:] if line.strip())
    if _any(_FULL, lower):
        return _full("to install the packages", output[-1] if output else "")
    wanted = re.search(r"No matching distribution found for (\S.*)", text)
    if wanted is not None and not _any(_OFFLINE, lower):
        versions = re.search(r"\(from versions: ([^()]*)\)", text)
        known = versions[1] if versions is not None and versions[1] != "none" else ""
        return EnvironmentProblem(
            "PackageNotFound",
            f"{wanted[1].strip()} cannot be installed into {image}: "
            + (f"for its Python there are only the versions {known}." if known else "no index that pip asks has it."),
            "Correct name or version, choose an image with another Python, or configure the index that has it "
            "(`pip config set global.index-url ...` for the user of the server).",
        )
    if "do not match the hashes" in lower or "hashes are required" in lower:
        return EnvironmentProblem(
            "HashMismatch", f"A package is not the one whose hash was asked for:\n{shown}", "Correct the hash."
        )
    if "conflicting dependencies" in lower or "resolutionimpossible" in lower:
        clash = [line.strip() for line in output if re.search(r"depends on|requested ", line)]
        return EnvironmentProblem(
            "PackagesConflict",
            "The packages contradict one another:\n" + ("\n".join(f"  {line}" for line in clash) or shown),
            "Change one of the lines.",
        )
    if _any(_OFFLINE, lower):
        return EnvironmentProblem(
            "IndexUnreachable",
            f"pip in {image} cannot reach the package index:\n{shown}",
            "Check the network; behind a proxy set HTTPS_PROXY for the server; pip's configuration is handed over.",
        )
    return EnvironmentProblem(
        "InstallFailed", f"The packages could not be installed into {image}:\n{shown}", "The build log has it all."
    )


def _full(what: str, message: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        "DiskFull",
        f"There is no space left {what}: {message}",
        "Free some on the disk of the container engine: `docker system prune`, `runyard env gc`.",
    )


def _at(step: str) -> str:
    return f", at `{step}`" if step else ""


def _any(phrases: Sequence[str], text: str) -> bool:
    return any(phrase in text for phrase in phrases)
