"""The seam between a specification and whatever makes an environment of it. Each builder is one module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping

from runyard.contracts.environment import Specification


@dataclass(frozen=True)
class Order:
    """One environment that is to be built."""

    specification: Specification
    relax: bool = False  # whether a pin that cannot be had may become the nearest version that can
    secrets: Mapping[str, str] = field(default_factory=dict)  # values by name (`runyard.contracts.secrets`)
    report: Callable[[str], None] = print  # writes a line to the build's log; secrets in it are masked
    check: Callable[[], None] = lambda: None  # called often; raises to give up
    fetch: Callable[[str], Path] = Path  # fetches a file or folder from the server (`runyard://...`)
    real_horovod: bool = False  # no layer may stand in for it


@dataclass(frozen=True)
class Built:
    """What a builder has made."""

    interpreter: str  # the Python to start; in an image, its name there
    folder: str = ""  # whose bin/ goes first on PATH; empty for an image
    image: str = ""  # the image that the run is started in
    python: str = ""  # its version
    changes: list[str] = field(default_factory=list)  # what was relaxed, a line each
    variables: dict[str, str] = field(default_factory=dict)  # what activating it would set
    layers: list[str] = field(default_factory=list)  # lines in whose place a layer of Runyard stands


class Builder(ABC):
    """Makes one kind of environment."""

    name: str

    @abstractmethod
    def build(self, order: Order, folder: Path) -> Built:
        """Make the environment in `folder`, which is there and empty. EnvironmentProblem when it cannot be made.

        What is left in the folder after a problem, or after this process was killed, is removed by the caller.
        """

    def intact(self, built: Built) -> bool:
        """Whether what was built is still there: nobody has removed the interpreter below it, or the image."""
        return Path(built.interpreter).exists()
