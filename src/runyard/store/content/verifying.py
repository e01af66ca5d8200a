"""Verifies every object: whether its content has the hash in its name, and whether all that rows name are there.

Nothing is changed. It reads every byte, so it is for an operator on demand, not for a running server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select, union

from runyard.contracts import pack
from runyard.store import after_commit
from runyard.store.content.objects import Objects
from runyard.store.database import Database
from runyard.store.tables import files, models, runs, snapshot_objects, snapshots, wheels

_NAMING = (files, snapshot_objects, wheels)

USERS = 3
"""How many of those that need a damaged object are named."""


@dataclass(frozen=True)
class Damage:
    """An object that is not what it should be."""

    digest: str
    problem: str


def damaged(objects: Objects, read: Callable[[int], None]) -> Iterator[Damage]:
    """The objects whose content has another hash than their names; `read` gets the count of bytes that were read."""
    for found in objects.walk():
        if found.digest is None:
            continue
        try:
            with found.path.open("rb") as file:
                seen, size = pack.digest_of(file)
        except FileNotFoundError:
            continue  # deleted since
        except OSError as error:
            yield Damage(found.digest, f"cannot be read: {error.strerror}")
            continue
        read(size)
        if seen != found.digest:
            yield Damage(found.digest, f"has {size} bytes, which are not those that its name says")


def missing(objects: Objects, database: Database) -> list[Damage]:
    """The objects that rows name and that are not there."""
    lost: set[str] = set()
    named = union(*(select(table.c.digest).where(table.c.digest.is_not(None)) for table in _NAMING))
    with database.read() as connection:
        for digest in connection.execution_options(yield_per=1000).scalars(named):
            if not objects.path(digest).exists() and not (objects.aside.folder / digest).exists():
                lost.add(digest)
    with database.read() as connection:  # what was deleted meanwhile is not missed
        return [Damage(digest, "is not there") for digest in sorted(lost - after_commit.unnamed(connection, lost))]


def users(connection: Connection, digest: str) -> tuple[str, ...]:
    """Some of those that need an object."""
    of_runs = select(files.c.name, runs.c.id).join(runs, runs.c.serial == files.c.run).where(files.c.digest == digest)
    found = [f"{row.name} of run {row.id}" for row in connection.execute(of_runs.limit(USERS))]
    code = (
        select(runs.c.id)
        .join(snapshots, snapshots.c.id == runs.c.snapshot_id)
        .join(snapshot_objects, snapshot_objects.c.snapshot == snapshots.c.serial)
        .where(snapshot_objects.c.digest == digest)
    )
    found += [f"the snapshot of run {id}" for id in connection.scalars(code.limit(USERS))]
    of_models = (
        select(models.c.name, models.c.version)
        .join(snapshots, snapshots.c.id == models.c.tree)
        .join(snapshot_objects, snapshot_objects.c.snapshot == snapshots.c.serial)
        .where(snapshot_objects.c.digest == digest)
    )
    found += [f"the model {row.name}:{row.version}" for row in connection.execute(of_models.limit(USERS))]
    found += [
        f"the wheel {name}" for name in connection.scalars(select(wheels.c.name).where(wheels.c.digest == digest))
    ]
    return tuple(found[:USERS])
