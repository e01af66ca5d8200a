"""What is carried over, whatever it comes from: experiments, runs with their points and files, and models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

Point = tuple[float, int, int]
"""A value, its time in milliseconds, and its step."""

Opened = Callable[[], BinaryIO]


@dataclass(frozen=True)
class SourceExperiment:
    id: str
    name: str
    tags: dict[str, str]
    deleted: bool = False


@dataclass(frozen=True)
class SourceRun:
    """A run without its points and files, which are asked for one by one."""

    id: str
    experiment_id: str
    name: str
    user: str
    status: str
    start_time: int
    end_time: int | None
    deleted: bool
    parameters: dict[str, str]
    tags: dict[str, str]
    metrics: list[str]


@dataclass(frozen=True)
class SourceVersion:
    version: int
    source: str
    run_id: str
    description: str
    tags: dict[str, str]
    stage: str = "None"


@dataclass(frozen=True)
class SourceModel:
    name: str
    description: str
    tags: dict[str, str]
    aliases: dict[str, int]
    versions: list[SourceVersion] = field(default_factory=list)


def open_binary(path: Path) -> BinaryIO:
    return path.open("rb")


class Source(Protocol):
    """Where a history comes from. Runs come in the order in which they were made."""

    name: str

    def experiments(self) -> list[SourceExperiment]: ...

    def runs(self, experiment: SourceExperiment) -> Iterator[SourceRun]: ...

    def history(self, run: SourceRun, metric: str) -> list[Point]: ...

    def files(self, run: SourceRun) -> Iterator[tuple[str, Opened]]:
        """The artifacts of a run by their paths; ValueError, with the reason, when they cannot be read from here."""

    def logged_models(self) -> dict[str, tuple[str, str]]:
        """The run and the name of each logged model: its files are among those of the run, in a folder of its name."""

    def models(self) -> list[SourceModel]: ...

    def left_out(self) -> dict[str, int]:
        """What there is that is not carried over, and how much of it."""


@dataclass
class Summary:
    """What a transfer has done. `lost` has one sentence for each thing that could not be carried over."""

    experiments: int = 0
    runs: int = 0
    skipped: int = 0
    points: int = 0
    files: int = 0
    bytes: int = 0
    models: int = 0
    versions: int = 0
    lost: list[str] = field(default_factory=list)
