"""From a specification to an environment that a run can be started in: found, or built by the builder for it.

The way to one that is built already is short and loads next to nothing: every run takes it, before its script starts.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterable, Iterator, Mapping

from runyard.contracts.environment import CONTAINER, CURRENT, Specification
from runyard.contracts.secrets import mask
from runyard.environments.builder import Builder, Built, Order
from runyard.environments.cache import Cache, Entry, Origin
from runyard.environments.problem import EnvironmentProblem
from runyard.system.locks import Held

STOCK_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04"
"""Where the image that SDK v1 fills in begins: nobody has chosen it, and it is not worth a remark."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True)
class Around:
    """What surrounds the specification: where environments are stored, and what its workspace allows."""

    folder: Path  # of the built environments
    relax: bool = False  # whether a pin that cannot be had may become the nearest version that can
    limit: int | None = None  # bytes; when there are more, those not used for the longest time are removed
    secrets: Mapping[str, str] = field(default_factory=dict)  # values by name (`runyard.contracts.secrets`)
    notes: tuple[str, ...] = ()  # how the specification came to be the one it is, for the log
    real_horovod: bool = False  # whether a layer may not stand in for Horovod


@dataclass(frozen=True)
class Ready:
    """An environment that can be used. It is not removed while its lock is held."""

    key: str
    kind: str
    built: Built
    found: bool  # it was there, and nothing was built
    names: tuple[str, ...]  # under which it was asked for
    held: Held = field(repr=False, compare=False)


def peek(
    specification: Specification, around: Around, report: Callable[[str], None] = lambda line: None
) -> Ready | None:
    """The environment, if it is there and whole. Nothing is built, and nothing reported where there is none."""
    masked = _masked(report, around.secrets)
    with _reported(around):
        cache = Cache(around.folder)
        # A relaxed workspace is content with what was built without relaxing anything.
        for relaxed in (False, True) if around.relax else (False,):
            ready = _find(cache, specification, specification.key(relaxed, around.real_horovod))
            if ready is not None:
                _report_each(masked, [*_remarks(specification, around), *_found(ready)])
                return ready
    return None


def prepare(
    specification: Specification,
    around: Around,
    report: Callable[[str], None],
    check: Callable[[], None],
    fetch: Callable[[str], Path] = Path,
) -> Ready:
    """The environment of a specification, built if need be. EnvironmentProblem says why it cannot be had.

    `report` gets each line of the log, with no secret in it; `check` is called often, and raises to give up; `fetch`
    fetches a file or folder from the server.
    """
    if specification.kind == CURRENT:
        raise ValueError("An environment that its user manages is not built: start its interpreter.")
    ready = peek(specification, around, report)
    if ready is not None:
        return ready
    masked = _masked(report, around.secrets)
    with _reported(around):
        _report_each(masked, _remarks(specification, around))
        builder = _builder(specification, around.folder.parent / "cache")
        order = Order(specification, around.relax, around.secrets, masked, check, fetch, around.real_horovod)
        key = specification.key(around.relax, around.real_horovod)
        ready = _build(Cache(around.folder), builder, order, key)
    _make_room(around, masked)
    return ready


def _build(cache: Cache, builder: Builder, order: Order, key: str) -> Ready:
    specification, made = order.specification, []

    def make(folder: Path) -> Built:
        order.report(f"Building the environment {specification.name or key!r} ({key}) with {builder.name}")
        made.append(builder.build(order, folder))
        return made[0]

    asked = tuple(mask(line) for line in specification.asked)
    origin = Origin(specification.kind, builder.name, specification.name, asked)
    held = cache.use(key)
    try:
        entry = cache.build(key, make, order.report, order.check, origin, lambda entry: builder.intact(entry.built))
    except BaseException:
        held.release()
        raise
    ready = Ready(key, entry.kind, entry.built, not made, tuple(entry.names), held)
    if made:
        _report_each(order.report, [*_changes(entry.built), f"Built in {entry.seconds:.1f} s: {_python(entry.built)}"])
    else:
        _report_each(order.report, _found(ready))
    return ready


def _builder(specification: Specification, memory: Path) -> Builder:
    """The builder for a specification; `memory` is the folder in which it may store what it learns of the machine."""
    if specification.kind == CONTAINER:
        from runyard.environments.containers.image import ContainerBuilder

        return ContainerBuilder()
    from runyard.environments.packages import choose

    return choose(specification, memory)


def _find(cache: Cache, specification: Specification, key: str) -> Ready | None:
    if not cache.may_have(key):
        return None
    held = cache.use(key)
    entry = cache.find(key)
    if entry is None or not _intact(entry):
        held.release()
        return None
    if specification.name and specification.name not in entry.names:
        cache.name(key, specification.name)
        entry.names.append(specification.name)
    return Ready(key, entry.kind, entry.built, True, tuple(entry.names), held)


def _intact(entry: Entry) -> bool:
    """Whether the environment is whole. What needs no builder to be seen is seen without loading one."""
    if entry.kind != CONTAINER:
        return os.path.exists(entry.built.interpreter)
    from runyard.environments.containers.image import ContainerBuilder

    return ContainerBuilder().intact(entry.built)


def _make_room(around: Around, report: Callable[[str], None]) -> None:
    """Shrink the folder to its limit. The environment that was just made is in use, and stays."""
    if around.limit is None:
        return
    try:
        for gone in Cache(around.folder).collect(around.limit):
            named = ", ".join(gone.names) or gone.key
            report(f"Removed the environment {named!r}, not used for the longest time: there is a limit to their size")
    except OSError as error:
        report(f"Environments that are over the limit could not be removed: {error}")


# -- messages -------------------------------------------------------------------------------------------------------


def _remarks(specification: Specification, around: Around) -> Iterator[str]:
    yield from around.notes
    for line in specification.left_out:
        yield f"{line} is left out: the SDK is there already"
    if specification.on_the_machine and not specification.image.startswith(STOCK_IMAGE):
        yield f"{specification.image} holds a Linux and no packages: this machine stands in for it"


def _found(ready: Ready) -> Iterator[str]:
    yield f"The environment is there already ({ready.key}): {_python(ready.built)}"
    yield from _changes(ready.built)


def _changes(built: Built) -> Iterator[str]:
    for change in built.changes:
        yield f"Relaxed: {change}"
    for line in built.layers:
        yield f"{line}: a layer of Runyard stands in for it"


def _python(built: Built) -> str:
    return f"Python {built.python} at {built.image or built.interpreter}".replace("Python  at ", "")


def _report_each(report: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        report(line)


def _masked(report: Callable[[str], None], secrets: Mapping[str, str]) -> Callable[[str], None]:
    values = list(_values(secrets))
    return lambda line: report(mask(line, values))


def _values(secrets: Mapping[str, str]) -> Iterator[str]:
    """The secrets in every form in which a tool may write them: whole, and the password of `user:password` alone."""
    from urllib.parse import unquote

    for value in secrets.values():
        for part in (value, value.partition(":")[2]):
            yield part
            yield unquote(part)


@contextmanager
def _reported(around: Around) -> Iterator[None]:
    """Masks secrets in problems, and turns errors of the disk into problems."""
    try:
        yield
    except EnvironmentProblem as problem:
        values = list(_values(around.secrets))
        raise EnvironmentProblem(problem.code, mask(problem.message, values), mask(problem.help, values)) from None
    except OSError as error:
        if error.errno in _FULL:
            raise EnvironmentProblem(
                "DiskFull",
                f"There is no space left to build the environment in {around.folder}: {error}",
                "Free some: `runyard env gc --limit 10GB` removes environments that were not used for a while, and "
                "`runyard rm` deletes runs.",
            ) from error
        if error.errno in _CLOSED and str(error.filename or "").startswith(str(around.folder)):
            raise EnvironmentProblem(
                "EnvironmentsNotWritable",
                f"Environments cannot be kept in {around.folder}: {error}",
                "Change the rights of the folder, or set RUNYARD_HOME to another one.",
            ) from error
        raise
