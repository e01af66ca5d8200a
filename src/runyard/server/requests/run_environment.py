"""The environment of a new run: what the workspace's maps make of the requested one, and the notes on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Connection

from runyard.contracts import curated
from runyard.contracts.environment import CURRENT, Specification, specification_of
from runyard.server.middleware.problems import Problem
from runyard.server.responses.documents import Json
from runyard.store.assets import environment_maps
from runyard.store.assets.environment_maps import EnvironmentMap

ASKED, MAPPED = "runyard.environment.asked", "runyard.environment.mapped"
"""Properties of a run: the name and version that it asked for, and what stands for them."""


def check(environment: Mapping[str, Any]) -> None:
    """Refuse what is no `contracts.environment.Specification`."""
    for field in fields(Specification):
        value = environment.get(field.name)
        if value is not None and not _fits(value, field.default):
            wanted = {tuple: "a list of texts", bool: "true or false"}.get(type(field.default), "a text")
            raise Problem(
                "invalid_run",
                f"`launch.environment.{field.name}` is not {wanted}.",
                "It is a specification as `contracts/environment.py` describes it.",
            )


def _fits(value: object, default: object) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, type(default))


def settle(
    connection: Connection, workspace: str, launch: Json, definition: Mapping[str, Any]
) -> tuple[Json, dict[str, str]]:
    """The launch with the environment that the run gets and the notes on it, and the properties that show both."""
    asked = Specification.from_dict({key: value for key, value in launch["environment"].items() if value is not None})
    launch = {**launch, "environment": asked.as_dict(), "notes": []}
    if not asked.name:
        return launch, {}
    properties = {ASKED: _with_version(asked.name, definition)}
    found = environment_maps.look_up(connection, workspace, asked.name)
    if found is not None:
        return {**launch, **_mapped(found, asked.name)}, {**properties, MAPPED: f"{found.pattern}: {_meaning(found)}"}
    known = curated.find(asked.name)
    if known is not None and specification_of(known.definition).key() == asked.key():
        launch["notes"] = [known.note]
    return launch, properties


def _mapped(found: EnvironmentMap, name: str) -> Json:
    """What of a launch a map replaces."""
    if found.definition is not None:
        used = replace(specification_of(found.definition), name=name)
    else:
        used = Specification(name=name, user_managed=True, interpreter=str(found.interpreter))
    note = f"{name} is mapped to {_meaning(found)} by the pattern {found.pattern!r} (runyard env map)"
    changed: Json = {"environment": used.as_dict(), "notes": [note]}
    if used.kind == CURRENT:
        changed["interpreter"] = used.interpreter or "python"
    return changed


def _meaning(found: EnvironmentMap) -> str:
    if found.definition is None:
        return str(found.interpreter)
    return f"the definition {_with_version(str(found.definition.get('name') or 'without a name'), found.definition)}"


def _with_version(name: str, definition: Mapping[str, Any]) -> str:
    version = definition.get("version")
    return f"{name}:{version}" if isinstance(version, str) and version else name
