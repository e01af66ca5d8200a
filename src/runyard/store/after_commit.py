"""The folders beside the database, in step with its transactions.

A row may name an object, and a growing file belongs to a row. Rows come and go with a transaction, files do not: so a
write transaction collects here what it means for the files. Objects that it names are looked up before it commits;
what it no longer uses is removed after it has committed, both under the write lock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, select, union

from runyard.store import damage, tables
from runyard.store.content.growing_files import Growing
from runyard.store.content.objects import Objects
from runyard.store.errors import Conflict
from runyard.store.slices import slices

logger = logging.getLogger(__name__)

_FOLDERS, _EFFECTS, _SERIALS = "runyard.folders", "runyard.effects", "runyard.serials"


@dataclass(frozen=True)
class Folders:
    objects: Objects
    growing: Growing


@dataclass
class Effects:
    """What one write transaction means for the folders."""

    named: dict[str, int] = field(default_factory=dict)  # objects that rows name from now on, and their sizes
    released: set[str] = field(default_factory=set)  # objects that a row has ceased to name
    closed: set[int] = field(default_factory=set)  # growing files that no row names any more


def bind(connection: Connection, folders: Folders | None, effects: Effects | None) -> None:
    damage.forget(connection)
    connection.info[_FOLDERS] = folders
    connection.info[_EFFECTS] = effects
    connection.info[_SERIALS] = {}


def serials(connection: Connection) -> dict[str, int]:
    """The serials of runs that this transaction has come across: a run keeps its own, and they are asked for again and
    again. To be emptied where runs are deleted."""
    found: dict[str, int] = connection.info.setdefault(_SERIALS, {})
    return found


def folders(connection: Connection) -> Folders:
    found = connection.info.get(_FOLDERS)
    if not isinstance(found, Folders):
        raise RuntimeError("this database has no folders beside it: open it through Store")
    return found


def effects(connection: Connection) -> Effects:
    found = connection.info.get(_EFFECTS)
    if not isinstance(found, Effects):
        raise RuntimeError("this changes rows: use a connection from Database.write()")
    return found


def check(folders: Folders, effects: Effects) -> None:
    """Refuse to commit a row that names an object which is not there (any more)."""
    missing = [digest for digest, size in effects.named.items() if not folders.objects.has(digest, size)]
    if missing:
        raise Conflict(
            "objects_missing",
            f"{len(missing)} of the objects named are not on the server, {missing[0]} for one.",
            "Send them, then try again.",
            {"missing": missing},
        )


def settle(connection: Connection | None, folders: Folders, effects: Effects) -> None:
    """After a commit: remove what it has left without a row. The connection is needed where objects were released.

    The rows have changed for good, so a file that cannot be removed must not fail the request: it is logged, and
    `sweeping.sweep` finds it again.
    """
    folders.objects.let_go(effects.named)
    try:
        for digest in unnamed(connection, effects.released) if connection is not None else ():
            folders.objects.discard(digest)
        for key in effects.closed:
            folders.growing.remove(key)
    except OSError as error:
        logger.warning("a file that nothing uses could not be removed: %s", error)


def unnamed(connection: Connection, digests: Iterable[str]) -> set[str]:
    """Those of the objects that no row names."""
    left = set(digests)
    for some in slices(sorted(left)):
        named = union(
            select(tables.files.c.digest).where(tables.files.c.digest.in_(some)),
            select(tables.snapshot_objects.c.digest).where(tables.snapshot_objects.c.digest.in_(some)),
            select(tables.wheels.c.digest).where(tables.wheels.c.digest.in_(some)),
        )
        left.difference_update(connection.scalars(named))
    return left
