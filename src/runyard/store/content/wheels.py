"""Private wheels: packages of a workspace. Their content is in the object store.

An address holds the hash of the content. A wheel that is put in the place of another under the same name leaves the
other where it is, because environments may name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

from sqlalchemy import Connection, delete, insert, select

from runyard.store import after_commit
from runyard.store.content.objects import Stored
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.tables import wheels

_NAME = re.compile(r"[A-Za-z0-9][\w.]*-[\w.!+]+(-\d[\w.]*)?-[\w.]+-[\w.]+-[\w.]+\.whl", re.ASCII)
_ADDRESS = re.compile(r"runyard://wheels/([0-9a-f]{64})/")


@dataclass(frozen=True)
class Wheel:
    name: str
    digest: str
    size: int

    @property
    def address(self) -> str:
        return f"runyard://wheels/{self.digest}/{self.name}"


def put(connection: Connection, workspace: str, name: str, stored: Stored, exist_ok: bool = False) -> Wheel:
    """Store a wheel. Conflict `wheel_exists` for a name that is taken, unless `exist_ok`."""
    check_name(name)
    here = workspaces.serial(connection, workspace)
    if not exist_ok and look_up(connection, workspace, name) is not None:
        raise exists(workspace, name)
    connection.execute(
        delete(wheels).where(wheels.c.workspace == here, wheels.c.name == name, wheels.c.digest == stored.digest)
    )
    connection.execute(
        insert(wheels).values(
            workspace=here,
            name=name,
            digest=stored.digest,
            size=stored.size,
            updated_at=datetime.now(timezone.utc),
        )
    )
    after_commit.effects(connection).named[stored.digest] = stored.size
    return Wheel(name, stored.digest, stored.size)


def get(connection: Connection, workspace: str, name: str) -> Wheel:
    """The wheel of that name that was put last."""
    found = look_up(connection, workspace, name)
    if found is None:
        raise NotFound(
            "wheel_not_found",
            f"There is no wheel {name!r} in the workspace {workspace!r}.",
            "`Environment.add_private_pip_wheel` brings one in.",
        )
    return found


def look_up(connection: Connection, workspace: str, name: str) -> Wheel | None:
    here = workspaces.serial(connection, workspace)
    named = select(wheels).where(wheels.c.workspace == here, wheels.c.name == name)
    row = connection.execute(named.order_by(wheels.c.updated_at.desc()).limit(1)).first()
    return None if row is None else Wheel(row.name, row.digest, row.size)


def digests(connection: Connection, workspace: str, lines: Iterable[str]) -> set[str]:
    """The contents of those wheels of a workspace whose addresses are in some lines of requirements."""
    named = {digest for line in lines for digest in _ADDRESS.findall(line)}
    here = workspaces.serial(connection, workspace)
    query = select(wheels.c.digest).where(wheels.c.workspace == here)
    return named & set(connection.scalars(query)) if named else set()


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > 255:
        raise Refused(
            "bad_name",
            f"{name[:80]!r} is no name of a wheel.",
            "Use that of a built package, such as mine-1.0-py3-none-any.whl.",
        )
    return name


def exists(workspace: str, name: str) -> Conflict:
    return Conflict(
        "wheel_exists",
        f"There is a wheel {name!r} in the workspace {workspace!r} already.",
        "Give the new one another version, or send exist_ok=true to put it in the place of the other.",
        {"name": name},
    )
