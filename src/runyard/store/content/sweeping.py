"""Clearing away what no row names: leftovers of crashes, snapshots that were never run. It takes two steps, days apart.

Nothing is removed at once: it is moved aside first (`aside`), comes back when a row names it, and goes for good after
`RETENTION`. Where most of what the folders hold would go, nothing is moved at all, until an operator confirms
it: a database that names so few of the files is more likely the wrong one, or an old copy.

What a user deletes is not treated like that: it goes at once (`deletion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sqlalchemy import select

from runyard.contracts import pack
from runyard.store import after_commit, identity, tables
from runyard.store.after_commit import Folders
from runyard.store.content import aside, deletion
from runyard.store.content.aside import RETENTION, Held
from runyard.store.content.objects import Found
from runyard.store.slices import slices
from runyard.store.store import Store

LEFTOVER_AFTER = timedelta(days=1)
"""How old a leftover must be: an upload that is under way is younger."""

LOOKED_UP = 5000
"""Objects that are looked up in one transaction: a long one would prevent SQLite from clearing its log."""

FEW = 20
LITTLE = 100_000_000
"""Up to so many files and bytes may be most of what there is: a home that has hardly been used."""


@dataclass(frozen=True)
class Swept:
    """What a sweep has done. Only `bytes_freed` came free on the disk."""

    files_aside: int = 0
    bytes_aside: int = 0
    bytes_freed: int = 0
    held: Held | None = None


def sweep(store: Store, older_than: timedelta, retention: timedelta = RETENTION, even_most: bool = False) -> Swept:
    """Move aside what no row names and what has not changed for a while; remove what was moved aside long ago.

    Give it time enough that an upload which is still under way is not taken for a leftover.
    """
    bring_back(store)
    before = datetime.now(timezone.utc) - older_than
    with store.database.write() as connection:
        explained = deletion.delete_unused_snapshots(connection, before)
    objects: list[Found] = []
    broken: list[Found] = []
    for found in store.objects.walk():
        (broken if found.digest is None else objects).append(found)
    unnamed: set[str] = set()
    for some in slices([str(found.digest) for found in objects if found.modified_at <= before], LOOKED_UP):
        with store.database.read() as connection:
            unnamed |= after_commit.unnamed(connection, some)
    with store.database.read() as connection:
        logs = _lost_logs(store, identity.unnamed_logs(connection, Folders(store.objects, store.growing)), before)
    held = None if even_most else _held(store, objects, unnamed - explained, logs)
    aside.remember(store.objects.folder, held)
    freed = _remove_broken(broken, before) + _remove_for_good(store, retention)
    if held is not None:
        return Swept(bytes_freed=freed, held=held)
    files, size = _set_aside(store, unnamed, logs)
    return Swept(files, size, freed)


def bring_back(store: Store) -> None:
    """Put back what was moved aside and is named by a row: the database was another one for a while."""
    waiting = [each.name for each in store.objects.aside.waiting() if pack.is_digest(each.name)]
    if waiting:
        with store.database.read() as connection:
            unnamed = after_commit.unnamed(connection, waiting)
        for digest in waiting:
            if digest not in unnamed:
                store.objects.has(digest)  # moves it back
    logs = [int(each.name) for each in store.growing.aside.waiting() if each.name.isdecimal()]
    if logs:
        with store.database.write() as connection:
            named = tables.files.c.digest.is_(None)
            for some in slices(logs):
                query = select(tables.files.c.serial).where(named, tables.files.c.serial.in_(some))
                for key in connection.scalars(query).all():
                    store.growing.bring_back(key)


def _held(store: Store, objects: list[Found], unexplained: set[str], logs: list[int]) -> Held | None:
    files, total = len(unexplained) + len(logs), len(objects) + len(store.growing.all())
    size = sum(found.size for found in objects if found.digest in unexplained) + sum(map(store.growing.size, logs))
    if 2 * files <= total or (files <= FEW and size <= LITTLE):
        return None
    return Held(files, size, total)


def _lost_logs(store: Store, keys: list[int], before: datetime) -> list[int]:
    lost = []
    for key in keys:
        extent = store.growing.extent(key)
        if extent is None or extent.updated_at <= before:
            lost.append(key)
    return lost


def _set_aside(store: Store, digests: set[str], logs: list[int]) -> tuple[int, int]:
    files, size = deletion.clear_unnamed(store, digests, store.objects.set_aside)
    if logs:
        with store.database.write() as connection:
            unnamed = set(identity.unnamed_logs(connection, Folders(store.objects, store.growing)))
            for key in unnamed.intersection(logs):
                files, size = files + 1, size + store.growing.set_aside(key)
    return files, size


def _remove_broken(found: list[Found], before: datetime) -> int:
    """Remove what writers that died have left: no hash is known for it, so nobody can ever ask for it."""
    freed = 0
    for each in found:
        if each.modified_at <= before:
            each.path.unlink(missing_ok=True)
            freed += each.size
    return freed


def _remove_for_good(store: Store, retention: timedelta) -> int:
    # What a row names was moved back by now: no row is stored before `Objects.has` has found what it names.
    seconds = retention.total_seconds()
    return store.objects.aside.remove(seconds) + store.growing.aside.remove(seconds)
