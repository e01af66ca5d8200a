"""Registered environments: definitions by name, versioned by content, with labels that point at one version.

Definitions come in veiled (`runyard.contracts.secrets`): what is stored here holds no secret.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, Text, delete, func, insert, or_, select, type_coerce

from runyard.contracts.environment import content_hash
from runyard.store import damage
from runyard.store.content import build_contexts
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.slices import slices
from runyard.store.tables import environment_labels, environments

_NAME = re.compile(r"[^\W][^/\\\x00-\x1f\x7f]{0,254}")
_VERSION = re.compile(r"[a-zA-Z0-9][\w.+-]{0,254}", re.ASCII)


@dataclass(frozen=True)
class Environment:
    name: str
    version: str
    definition: dict[str, Any]
    labels: list[str]
    created_at: datetime


def register(connection: Connection, workspace: str, definition: Mapping[str, Any]) -> Environment:
    """Store a definition. If there is one with the same content, that is returned; a version in the definition is
    used as it is. Conflict `environment_exists` when that version holds something else."""
    name = check_name(definition.get("name"))
    version = _requested_version(definition)
    here = workspaces.serial(connection, workspace)
    content = content_hash(definition)
    found = _with_content(connection, here, name, version, content)
    if found is not None:
        return _environments(connection, [found])[0]
    version = version or _next_version(connection, here, name)
    connection.execute(
        insert(environments).values(
            workspace=here,
            name=name,
            version=version,
            content=content,
            definition={**definition, "name": name, "version": version},
            context=build_contexts.of_definition(connection, definition),
            created_at=datetime.now(timezone.utc),
        )
    )
    return get(connection, workspace, name, version)


def get(
    connection: Connection, workspace: str, name: str, version: str | None = None, label: str | None = None
) -> Environment:
    """One version: the given one, the one that a label points at, or the latest."""
    row = _row(connection, workspace, name, version, label)
    return _environments(connection, [row])[0]


def latest(connection: Connection, workspace: str) -> list[Environment]:
    """The latest version of each name, by name."""
    here = workspaces.serial(connection, workspace)
    newest = select(func.max(environments.c.serial)).where(environments.c.workspace == here)
    query = select(environments).where(environments.c.serial.in_(newest.group_by(environments.c.name)))
    found = damage.rows(connection, query, environments.c.serial, environments.c.name)
    return _environments(connection, sorted(found, key=lambda row: row.name))


def versions(connection: Connection, workspace: str, name: str) -> list[Environment]:
    """Every version of a name, newest first."""
    rows = _versions(connection, workspaces.serial(connection, workspace), name)
    if not rows:
        raise _not_found(connection, workspace, name)
    return _environments(connection, rows)


def label(connection: Connection, workspace: str, name: str, version: str, labels: Iterable[str]) -> Environment:
    """Let labels point at a version; those that point at another one move."""
    row = _row(connection, workspace, name, version, None)
    for each in dict.fromkeys(labels):
        if not each.strip() or len(each) > 255 or "\0" in each:
            raise Refused("bad_name", f"{each[:80]!r} is no label.", "Use 1 to 255 characters.")
        here = (environment_labels.c.workspace == row.workspace, environment_labels.c.name == name)
        connection.execute(delete(environment_labels).where(*here, environment_labels.c.label == each))
        connection.execute(
            insert(environment_labels).values(workspace=row.workspace, name=name, label=each, environment=row.serial)
        )
    return get(connection, workspace, name, version)


def names(connection: Connection, workspace: str) -> list[str]:
    here = workspaces.serial(connection, workspace)
    query = select(environments.c.name).where(environments.c.workspace == here).distinct()
    return sorted(connection.scalars(query))


def naming(connection: Connection, workspace: str, secrets: Iterable[str]) -> list[dict[str, Any]]:
    """The definitions of all versions that name one of the secrets."""
    text = type_coerce(environments.c.definition, Text)
    query = select(environments.c.definition).where(
        environments.c.workspace == workspaces.serial(connection, workspace),
        or_(*(text.contains(name, autoescape=True) for name in secrets)),
    )
    return list(connection.scalars(query))


def check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip():
        raise Refused(
            "bad_name",
            f"{name!r} is no name for an environment.",
            "Use 1 to 255 characters with a letter, a digit or '_' first, and no slash among them.",
        )
    return name


def _requested_version(definition: Mapping[str, Any]) -> str | None:
    version = definition.get("version")
    if version is None or version == "":
        return None
    if type(version) is int:  # `env.version = 2` is meant as '2'
        version = str(version)
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise Refused(
            "bad_name", f"{version!r} is no version of an environment.", "Use a text such as '1', or leave it out."
        )
    return version


def _with_content(connection: Connection, here: int, name: str, version: str | None, content: str) -> Row[Any] | None:
    """The version that has this content already."""
    rows = _versions(connection, here, name)
    if version is None:
        return next((row for row in rows if row.content == content), None)
    taken = next((row for row in rows if row.version == version), None)
    if taken is not None and taken.content != content:
        raise Conflict(
            "environment_exists",
            f"The version {version!r} of the environment {name!r} is there already, and holds something else.",
            "Leave the version out: the next free one is taken.",
            {"name": name, "version": version},
        )
    return taken


def _next_version(connection: Connection, here: int, name: str) -> str:
    numbers = [int(row.version) for row in _versions(connection, here, name) if _is_number(row.version)]
    return str(max(numbers, default=0) + 1)


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit() and len(version) < 10


def _row(connection: Connection, workspace: str, name: str, version: str | None, label: str | None) -> Row[Any]:
    rows = _versions(connection, workspaces.serial(connection, workspace), name)
    if not rows:
        raise _not_found(connection, workspace, name)
    if version is not None:
        rows = [row for row in rows if row.version == version] or _no_version(rows, name, version)
    elif label is not None:
        rows = _labelled(connection, rows, name, label)
    return rows[0]


def _versions(connection: Connection, here: int, name: str) -> Sequence[Row[Any]]:
    query = select(environments).where(environments.c.workspace == here, environments.c.name == name)
    return connection.execute(query.order_by(environments.c.serial.desc())).all()


def _labelled(connection: Connection, rows: Sequence[Row[Any]], name: str, label: str) -> Sequence[Row[Any]]:
    query = select(environment_labels.c.environment).where(
        environment_labels.c.workspace == rows[0].workspace,
        environment_labels.c.name == name,
        environment_labels.c.label == label,
    )
    serial = connection.scalar(query)
    found = [row for row in rows if row.serial == serial]
    if not found:
        raise NotFound(
            "environment_not_found",
            f"No version of the environment {name!r} has the label {label!r}.",
            "`Environment.label` gives one.",
        )
    return found


def _no_version(rows: Sequence[Row[Any]], name: str, version: str) -> Sequence[Row[Any]]:
    known = [row.version for row in rows]
    raise NotFound(
        "environment_not_found",
        f"There is no version {version!r} of the environment {name!r}.",
        f"It has: {', '.join(known[:20])}.",
        {"versions": known},
    )


def not_found(workspace: str, name: str, known: Iterable[str]) -> NotFound:
    """The refusal of a name that is not there, with the names that look like it."""
    near = difflib.get_close_matches(name, list(known), n=5, cutoff=0.5)
    help = f"The nearest names are: {', '.join(near)}." if near else "`Environment.list` names what there is."
    title = f"There is no environment {name!r} in the workspace {workspace!r}."
    return NotFound("environment_not_found", title, help, {"name": name, "near": near})


def _not_found(connection: Connection, workspace: str, name: str) -> NotFound:
    return not_found(workspace, name, names(connection, workspace))


def _environments(connection: Connection, rows: Iterable[Row[Any]]) -> list[Environment]:
    found = list(rows)
    labels: dict[int, list[str]] = defaultdict(list)
    for serials in slices([row.serial for row in found]):
        query = select(environment_labels.c.environment, environment_labels.c.label)
        for serial, label in connection.execute(query.where(environment_labels.c.environment.in_(serials))):
            labels[serial].append(label)
    return [
        Environment(row.name, row.version, row.definition, sorted(labels[row.serial]), row.created_at) for row in found
    ]
