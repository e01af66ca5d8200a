"""Environment maps: what a workspace uses in the place of environments whose names match a pattern."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from runyard.store.content import build_contexts
from runyard.store.errors import NotFound, Refused
from runyard.store.prepared import Prepared
from runyard.store.runs import workspaces
from runyard.store.tables import environment_maps

_OF = Prepared(select(environment_maps).where(environment_maps.c.workspace == bindparam("here")))

LONGEST = 255
"""Characters of a pattern."""


@dataclass(frozen=True)
class EnvironmentMap:
    """What replaces environments whose names match `pattern`: exactly one of the others is set."""

    pattern: str
    interpreter: str | None = None
    definition: dict[str, Any] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether it matches one name only."""
        return re.search(r"[*?\[]", self.pattern) is None

    def matches(self, name: str) -> bool:
        return name == self.pattern or fnmatch.fnmatchcase(name, self.pattern)


def put(
    connection: Connection,
    workspace: str,
    pattern: str,
    interpreter: str | None = None,
    definition: Mapping[str, Any] | None = None,
) -> None:
    """Map a pattern to an interpreter or to a (veiled) definition, in the place of what it was mapped to."""
    here = workspaces.serial(connection, workspace)
    if not pattern.strip() or len(pattern) > LONGEST or "\0" in pattern:
        raise Refused(
            "bad_request", f"{pattern[:80]!r} is no pattern for names of environments.", "Use one such as 'AzureML-*'."
        )
    if (interpreter is None) == (definition is None):
        raise Refused(
            "bad_request", "A pattern is mapped to an interpreter or to a definition.", "Send exactly one of them."
        )
    if interpreter is not None:
        _check_interpreter(interpreter)
    connection.execute(delete(environment_maps).where(_is(here, pattern)))
    connection.execute(
        insert(environment_maps).values(
            workspace=here,
            pattern=pattern,
            interpreter=interpreter,
            definition=None if definition is None else dict(definition),
            context=None if definition is None else build_contexts.of_definition(connection, definition),
        )
    )


def remove(connection: Connection, workspace: str, pattern: str) -> None:
    here = workspaces.serial(connection, workspace)
    if connection.execute(delete(environment_maps).where(_is(here, pattern))).rowcount == 0:
        known = ", ".join(repr(each.pattern) for each in find(connection, workspace)) or "none"
        raise NotFound(
            "environment_map_not_found",
            f"The pattern {pattern!r} is not mapped in the workspace {workspace!r}.",
            f"The patterns that are: {known}.",
        )


def find(connection: Connection, workspace: str) -> list[EnvironmentMap]:
    """All of them, in the order in which they are tried: an exact name before patterns, longer ones before shorter."""
    rows = _OF.all(connection, {"here": workspaces.serial(connection, workspace)})
    found = [EnvironmentMap(row.pattern, row.interpreter, row.definition) for row in rows]
    return sorted(found, key=lambda each: (not each.is_exact, -len(each.pattern), each.pattern))


def look_up(connection: Connection, workspace: str, name: str) -> EnvironmentMap | None:
    """The map that applies to a name in a workspace; None when the environment of that name is used itself."""
    return next((each for each in find(connection, workspace) if each.matches(name)), None)


def _is(here: int, pattern: str) -> Any:
    return (environment_maps.c.workspace == here) & (environment_maps.c.pattern == pattern)


def _check_interpreter(path: str) -> None:
    is_relative = "/" in path and not path.startswith("/")
    if not path.strip() or "\0" in path or is_relative:
        raise Refused(
            "bad_request",
            f"{path[:200]!r} is no path of an interpreter.",
            "Give a whole path, such as /home/me/venv/bin/python, or the name of a command, such as python3.11.",
        )
