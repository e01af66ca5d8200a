"""Which database belongs to which home folder: both hold the same id, and one without the other is refused.

    <home>/store.id    the id; while the two are being joined also the one that the database had before (`-` for none)

The files of a home are named by the rows of one database. With another one they would all look like leftovers, and logs
that still grow, which are called by the numbers of their rows, would be mixed up with those of other runs.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from runyard.contracts import home as homes
from runyard.contracts import pack
from runyard.store import after_commit, tables
from runyard.store.after_commit import Folders
from runyard.store.database import Database
from runyard.store.errors import Mismatched

FILE = "store.id"
NONE = "-"
SAMPLE = 1000
"""How many files are looked up to see whether a database fits a home. Objects are called by hashes, so the first ones
are as good as any."""


@dataclass(frozen=True)
class Fit:
    """What a look at some of the files of a home, and at some of the rows of a database, has shown."""

    files: int  # that were looked up in the database
    strange: int  # that it does not name
    rows: int  # that were looked up in the home
    lacking: int  # whose file is not there

    @property
    def is_good(self) -> bool:
        return 2 * self.strange <= self.files and 2 * self.lacking <= self.rows

    @property
    def is_free(self) -> bool:
        """Whether there is nothing on either side that could be lost."""
        return self.files == 0 and self.rows == 0


def tie(home: Path, database: Database, folders: Folders) -> None:
    """Make sure that the two belong together. New ones are joined, so are those of a Runyard that knew no ids."""
    ids = _read(home)
    with database.read() as connection:
        found = of_database(connection)
        if found is not None and found in ids:
            if len(ids) > 1:  # the process that joined them died before it had noted that
                _write(home, found)
            return
        fit = look(connection, folders)
    is_older = found is None and (not ids or NONE in ids)
    if not fit.is_free and not (is_older and fit.is_good):
        raise _refusal(home, database, fit)
    _join(home, database, found)


def join(home: Path, database: Database, folders: Folders) -> Fit:
    """Join the two on purpose, whatever they held before. Logs whose runs the database does not know are moved aside:
    it will give their numbers to others."""
    with database.write() as connection:
        found = of_database(connection)
        fit = look(connection, folders)
        for key in unnamed_logs(connection, folders):
            folders.growing.set_aside(key)
    _join(home, database, found)
    return fit


def refuse_lost(home: Path, where: str, folders: Folders) -> None:
    """Refuse to make a new database beside files that belong to another one."""
    files = len(_sample(folders)) + len(folders.growing.all())
    if files:
        raise Mismatched(
            "database_missing",
            f"There is no database at {where}, but {home} holds {_many(files)} that belong to one.",
            f"Put it back (a backup, or the file that was moved away), or name it with --database-url. To begin afresh "
            f"move all of {home} away, or set RUNYARD_HOME to another folder. `runyard database join` makes a new "
            "database for the files that are there; no run will name them.",
            {"path": where, "home": str(home)},
        )


def of_database(connection: Connection) -> str | None:
    return connection.scalar(select(tables.identity.c.id).limit(1))


def look(connection: Connection, folders: Folders) -> Fit:
    """See how far the files and the rows know each other."""
    digests = _sample(folders)
    logs = folders.growing.all()
    strange = len(after_commit.unnamed(connection, digests)) + len(unnamed_logs(connection, folders))
    named = _named(connection)
    lacking = sum(not folders.objects.has(digest) for digest in named)
    return Fit(len(digests) + len(logs), strange, len(named), lacking)


def unnamed_logs(connection: Connection, folders: Folders) -> list[int]:
    """The growing files that no row names."""
    keys = folders.growing.all()
    if not keys:
        return []
    named = set(connection.scalars(select(tables.files.c.serial).where(tables.files.c.digest.is_(None))))
    return [key for key in keys if key not in named]


def _sample(folders: Folders) -> list[str]:
    """Some of the objects of a home, those that wait to be removed among them."""
    stored = (found.digest for found in folders.objects.walk() if found.digest is not None)
    waiting = (each.name for each in folders.objects.aside.waiting() if pack.is_digest(each.name))
    return list(islice(chain(stored, waiting), SAMPLE))


def _named(connection: Connection) -> list[str]:
    """Some of the objects that the rows of a database name."""
    columns = (tables.files.c.digest, tables.snapshot_objects.c.digest, tables.wheels.c.digest)
    found: set[str] = set()
    for column in columns:
        found.update(connection.scalars(select(column).where(column.is_not(None)).limit(SAMPLE)))
    return sorted(found)


def _join(home: Path, database: Database, former: str | None) -> None:
    # Always a new id: the database that the home had before, and a home that the database had, match no longer.
    id = uuid.uuid4().hex
    _write(home, id, former or NONE)
    with database.write() as connection:
        connection.execute(delete(tables.identity))
        connection.execute(insert(tables.identity).values(id=id))
    _write(home, id)


def _refusal(home: Path, database: Database, fit: Fit) -> Mismatched:
    seen = f"Of {_many(fit.files)} there it does not know {fit.strange}"
    if fit.rows:
        seen += f"; of {_many(fit.rows)} that it names {fit.lacking} are not there"
    return Mismatched(
        "database_mismatch",
        f"The database {database.where} is not the one that belongs to {home}. {seen}.",
        f"Start with the right one: --database-url or RUNYARD_DATABASE_URL names it, without them it is "
        f"{home / 'runyard.db'}. If these two are to belong together from now on: `runyard database join`.",
        {"path": database.where, "home": str(home)},
    )


def _many(count: int) -> str:
    if count >= SAMPLE:
        return f"{count} or more files"
    return "1 file" if count == 1 else f"{count} files"


def _read(home: Path) -> list[str]:
    try:
        return (home / FILE).read_text("ascii", "replace").split()
    except FileNotFoundError:
        return []


def _write(home: Path, *ids: str) -> None:
    homes.write_private(home / FILE, "\n".join(ids) + "\n")
