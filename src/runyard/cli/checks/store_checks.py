"""Checks of the store of a home folder: what waits to be removed and, on demand, every object. Nothing is changed."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.cli.checks.check import FAIL, OK, WARN, Check
from runyard.cli.output import formatting

if TYPE_CHECKING:
    from runyard.store.database import Database

SHOWN = 20
"""How many damaged objects are listed one by one."""


def waiting(home: Path) -> Iterator[Check]:
    """Files that no row names: moved aside, or held back because they are most of what there is."""
    from runyard.store.content.aside import RETENTION, Aside, held_back

    found = [each for name in ("objects", "growing") for each in Aside(home / name).waiting()]
    if found:
        size = formatting.size(sum(each.size for each in found))
        left = min(each.since for each in found) + RETENTION.total_seconds() - time.time()
        yield Check(
            "moved aside",
            OK,
            f"{formatting.count(len(found), 'file')} that no run names, {size}; each is removed for good after "
            f"{RETENTION.days} days, the first in {formatting.duration(max(left, 0))}",
        )
    held = held_back(home / "objects")
    if held is not None:
        yield Check(
            "objects",
            WARN,
            f"the database does not name {held.files:,} of {held.of:,} files, {formatting.size(held.bytes)}: "
            "too many to clear them away unasked",
            "Make sure that it is the right database, and no old copy. If it is: `runyard down`, then "
            "`runyard database sweep`.",
        )


def objects(home: Path) -> Iterator[Check]:
    """Every object: whether its content has the hash in its name, and whether all that runs need is there."""
    if "RUNYARD_SERVER" in os.environ:
        yield Check("objects", WARN, "not checked: they are where the server runs", "`runyard doctor --deep` there.")
        return
    if not (home / "objects").is_dir():
        yield Check("objects", OK, "there are none")
        return
    from runyard.sdk.progress import progress
    from runyard.store.content import verifying
    from runyard.store.content.objects import Objects
    from runyard.store.errors import StoreError

    store = Objects(home / "objects")
    sizes = [found.size for found in store.walk() if found.digest is not None]
    with progress("Checking objects", sum(sizes)) as read:
        bad = list(verifying.damaged(store, read))
    needed: dict[str, tuple[str, ...]] = {}
    try:
        with _database(home) as database:
            if database is not None:
                bad += verifying.missing(store, database)
                with database.read() as connection:
                    needed = {damage.digest: verifying.users(connection, damage.digest) for damage in bad[:SHOWN]}
    except StoreError as error:
        yield Check("objects", WARN, f"not known which of them are needed: {error.title}", error.help)
    for damage in itertools.islice(bad, SHOWN):
        users = ", ".join(needed.get(damage.digest, ())) or "nothing that is known"
        yield Check(
            "object",
            FAIL,
            f"{store.path(damage.digest)} {damage.problem}; needed by {users}",
            "Put it back from a backup. What is sent again with the same content (an upload, a submit) mends it too.",
        )
    amount = f"{formatting.count(len(sizes), 'object')}, {formatting.size(sum(sizes))}"
    if bad:
        yield Check("objects", FAIL, f"{amount}: {len(bad):,} damaged or missing")
    else:
        yield Check("objects", OK, f"{amount}: each has the bytes that its name says")


@contextmanager
def _database(home: Path) -> Iterator[Database | None]:
    """The database of the home as it is, or None: nothing is created or migrated."""
    from runyard.store.database import Database
    from runyard.store.store import address

    found = Database.existing(address(home, os.environ.get("RUNYARD_DATABASE_URL")))
    try:
        yield found
    finally:
        if found is not None:
            found.close()
