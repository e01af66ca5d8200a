"""What a client asks for when it makes or changes a compute target: the form of the request, and the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from runyard.contracts import names, vm_sizes
from runyard.contracts.compute import DEDICATED, LOCAL, LOCAL_ENGINE, LOW_PRIORITY, Target
from runyard.contracts.distribution import MOST_NODES
from runyard.contracts.engine_options import BadOptions
from runyard.contracts.engines import EngineDescription
from runyard.engines import discovery
from runyard.engines.base import EngineError
from runyard.server.middleware.problems import Problem

Number = Annotated[int, Field(strict=True)]

RESERVED = (LOCAL, "amlcompute", "containerinstance")
"""Names with a meaning of their own in SDK v1."""

LONGEST_IDLE = 2**31 - 1


class NewTarget(BaseModel):
    """`runyard.contracts.compute.Target`, as a client sends it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    engine: str = LOCAL_ENGINE
    type: Annotated[str, Field(pattern=r"^[A-Za-z]{1,63}$")] | None = None
    vm_size: str = ""
    vm_priority: str = DEDICATED
    min_nodes: Number = 0
    max_nodes: Number | None = None
    idle_seconds: Number = 1800
    options: dict[str, JsonValue] = {}
    details: dict[str, JsonValue] = {}


class TargetChange(BaseModel):
    """What is not sent stays as it is. Of the options, those that are sent; null takes one away."""

    model_config = ConfigDict(extra="forbid")

    min_nodes: Number = 0
    max_nodes: Number | None = None
    idle_seconds: Number = 0
    options: dict[str, JsonValue] = {}
    details: dict[str, JsonValue] = {}


def made(body: NewTarget, now: str) -> Target:
    """The target of a request, checked."""
    names.check("compute", body.name)
    if body.name.lower() in RESERVED:
        raise (
            refuse_local()
            if body.name.lower() == LOCAL
            else _invalid(f"{body.name!r} is a name with a meaning of its own.", "Choose another one.")
        )
    target = Target(
        name=body.name,
        engine=body.engine,
        type=body.type or _engine(body.engine).target_type,
        vm_size=body.vm_size.strip(),
        vm_priority=body.vm_priority.lower(),
        min_nodes=body.min_nodes,
        max_nodes=body.max_nodes,
        idle_seconds=body.idle_seconds,
        options=dict(body.options),
        details=_without_passwords(body.details),
        created_at=now,
        modified_at=now,
    )
    return _checked(target)


def changed(target: Target, body: TargetChange, now: str) -> Target:
    """The target as it is to be, checked."""
    if target.name == LOCAL:
        raise refuse_local()
    changes: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "options" in changes:
        changes["options"] = {**target.options, **body.options}
    if "details" in changes:
        changes["details"] = _without_passwords(body.details)
    return _checked(replace(target, **changes, modified_at=now))


def refuse_local() -> Problem:
    return _invalid(
        "'local' is the machine that the server runs on: it is always there, as it is.",
        "RUNYARD_LOCAL_RUNS says how many runs it takes at a time. Make a target of another name for more.",
    )


def _checked(target: Target) -> Target:
    try:
        options = _engine(target.engine).check_options(target.options)
    except BadOptions as error:
        raise _invalid(str(error)) from None
    if target.vm_priority not in (DEDICATED, LOW_PRIORITY):
        raise _invalid(
            f"{target.vm_priority!r} is no priority of a compute target.", f"Use {DEDICATED!r} or {LOW_PRIORITY!r}."
        )
    try:
        vm_sizes.resources(target.vm_size)
    except vm_sizes.UnknownSize as error:
        near = vm_sizes.suggest(target.vm_size)
        raise Problem("unknown_vm_size", str(error), "Leave it out to ask for nothing.", {"near": near}) from None
    _check_numbers(target)
    return replace(target, options=options)


def _engine(name: str) -> EngineDescription:
    try:
        return discovery.describe(name)
    except EngineError as error:
        raise _invalid(str(error)) from None


def _check_numbers(target: Target) -> None:
    least, most = target.min_nodes, target.max_nodes
    if target.engine == LOCAL_ENGINE and most is None:
        raise _invalid("The compute target needs max_nodes.", "It is the number of nodes that it may grow to.")
    if target.engine != LOCAL_ENGINE and least:
        raise _invalid(
            f"A target on the engine {target.engine} has no min_nodes: the cluster has its own nodes.",
            "Leave min_nodes out; the cluster says how many of them stay up.",
        )
    for name, number in (("min_nodes", least), ("max_nodes", most)):
        if number is not None and not 0 <= number <= MOST_NODES:
            raise _invalid(f"{name} is {number}.", f"Use a number from 0 to {MOST_NODES}.")
    if most is not None and most < least:
        raise _invalid(f"max_nodes ({most}) is below min_nodes ({least}).", "Raise the one or lower the other.")
    if not 0 <= target.idle_seconds <= LONGEST_IDLE:
        raise _invalid(f"idle_seconds is {target.idle_seconds}.", f"Use a number from 0 to {LONGEST_IDLE}.")


def _without_passwords(details: dict[str, Any]) -> dict[str, Any]:
    """Nothing here uses a password of Azure's, and what is stored is shown."""
    return {
        name: _without_passwords(value) if isinstance(value, dict) else value
        for name, value in details.items()
        if "password" not in name.lower()
    }


def _invalid(title: str, help: str = "") -> Problem:
    return Problem("invalid_compute", title, help)
