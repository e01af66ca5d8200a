"""The images behind built environments: how much they take of the engine's disk, and their removal."""

from __future__ import annotations

from runyard.environments.builder import Built
from runyard.environments.problem import EnvironmentProblem


class ImageStays(Exception):
    """The engine does not remove the image."""


def size(built: Built) -> int:
    """Bytes of the image, with what it shares with others; 0 when there is none, or nobody to ask."""
    if not built.image:
        return 0
    from runyard.environments.containers.image import ContainerBuilder

    try:
        return ContainerBuilder().size(built)
    except (EnvironmentProblem, OSError):  # docker-py's errors of the engine are OSErrors
        return 0


def remove(built: Built) -> None:
    """Remove the image, if there is one."""
    if not built.image:
        return
    from runyard.environments.containers.image import ContainerBuilder

    try:
        ContainerBuilder().remove(built)
    except (EnvironmentProblem, OSError) as error:
        raise ImageStays(f"The image {built.image} could not be removed: {error}") from error
