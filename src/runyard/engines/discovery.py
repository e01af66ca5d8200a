"""Finding an engine by its name: in the table of this version, or among the entry points of installed packages.

Entry points are looked for only when somebody names an engine that is not in the table, and by `runyard doctor`. A
package that cannot be used is a problem of its own engine and of no other.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from runyard.contracts.engine_options import Option
from runyard.contracts.engines import BUILT_IN, EngineDescription
from runyard.engines.base import Engine, EngineError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "runyard.engines"

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_TYPE = re.compile(r"[A-Za-z]{1,63}")


@dataclass(frozen=True)
class InstalledEngine:
    """An entry point of the group. Either `description` is there, or `problem` is why it cannot be used."""

    name: str
    package: str
    description: EngineDescription | None = None
    problem: str = ""


def describe(name: str) -> EngineDescription:
    """The engine of that name. EngineError when there is none, or its package cannot be used."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = next((engine for engine in installed() if engine.name == name), None)
    if found is None:
        usable = [engine.name for engine in installed() if engine.description is not None]
        raise EngineError(f"There is no engine {name!r}. The engines are: {', '.join([*BUILT_IN, *usable])}.")
    if found.description is None:
        raise EngineError(f"The engine {name!r} of {found.package} cannot be used: {found.problem}.")
    return found.description


def load(description: EngineDescription) -> type[Engine]:
    """Import the class of an engine. EngineError when that cannot be done."""
    module, _, name = description.implementation.partition(":")
    try:
        loaded = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        raise EngineError(_cannot_load(description.name, description.implementation, error)) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Engine)):
        raise EngineError(
            f"The engine {description.name!r} cannot be used: {description.implementation} is no class of "
            "runyard.engines.base.Engine."
        )
    return loaded


@functools.cache
def installed() -> tuple[InstalledEngine, ...]:
    """The engines of installed packages, as they were when this process first looked."""
    return scan()


def scan() -> tuple[InstalledEngine, ...]:
    """Look for the engines of installed packages now."""
    from importlib.metadata import entry_points  # not needed by a server whose engines are all built in

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, _package(point)))
    registered = Counter(point.name for point in points)
    return tuple(_read(point, registered[point.name]) for point in points)


def _read(point: EntryPoint, times: int) -> InstalledEngine:
    package = _package(point)
    if point.name in BUILT_IN:
        return InstalledEngine(point.name, package, problem="the name is that of an engine of Runyard")
    if times > 1:
        return InstalledEngine(point.name, package, problem="several packages register an engine of that name")
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an import runs whatever the package holds
        return InstalledEngine(point.name, package, problem=f"{point.value} cannot be loaded ({_reason(error)})")
    problem = _wrong_form(point, loaded)
    return InstalledEngine(point.name, package, None if problem else loaded, problem)


def _wrong_form(point: EntryPoint, loaded: object) -> str:
    if not isinstance(loaded, EngineDescription):
        return f"{point.value} is no runyard.contracts.engines.EngineDescription"
    if loaded.name != point.name or not _NAME.fullmatch(loaded.name):
        return f"{point.value} has the name {loaded.name!r}, which is not that of the entry point in small letters"
    if not _TYPE.fullmatch(loaded.target_type):
        return f"its target_type {loaded.target_type!r} is not made of letters alone"
    if not all(isinstance(option, Option) for option in loaded.options):
        return "one of its options is no runyard.contracts.engine_options.Option"
    return ""


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


def _cannot_load(name: str, what: str, error: BaseException) -> str:
    return f"The engine {name!r} cannot be used: {what} cannot be loaded ({_reason(error)})."


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
