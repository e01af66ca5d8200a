"""The store: the database and the two folders beside it, opened together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from runyard.store import identity
from runyard.store.after_commit import Folders
from runyard.store.content.growing_files import Growing
from runyard.store.content.objects import Objects
from runyard.store.database import Database, missing_file
from runyard.store.identity import Fit


@dataclass(frozen=True)
class Store:
    database: Database
    objects: Objects
    growing: Growing

    def __post_init__(self) -> None:
        self.database.attach(Folders(self.objects, self.growing))

    @classmethod
    def open(cls, home: Path, url: str | None = None) -> Store:
        """Open the store of a home folder; the database is the one at `url`, else `<home>/runyard.db`.

        Mismatched when it is not the database that belongs to the home.
        """
        where, folders = address(home, url), _folders(home)
        lost = missing_file(where)
        if lost is not None:
            identity.refuse_lost(home, lost, folders)
        database = Database.open(where)
        try:
            identity.tie(home, database, folders)
        except BaseException:
            database.close()
            raise
        return cls(database, folders.objects, folders.growing)

    @classmethod
    def join(cls, home: Path, url: str | None = None) -> tuple[Store, Fit]:
        """Open them, and join them from now on, whatever they held before; also returns how well they fit."""
        folders = _folders(home)
        database = Database.open(address(home, url))
        try:
            fit = identity.join(home, database, folders)
        except BaseException:
            database.close()
            raise
        return cls(database, folders.objects, folders.growing), fit

    def close(self) -> None:
        self.growing.close()
        self.database.close()


def address(home: Path, url: str | None = None) -> str | URL:
    """The address of the database of a home folder: `url` if given, else the SQLite file in it."""
    return url or URL.create("sqlite", database=str(home.absolute() / "runyard.db"))


def _folders(home: Path) -> Folders:
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Folders(Objects(home / "objects"), Growing(home / "growing"))
