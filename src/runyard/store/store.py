"""The store: the database and the two folders beside it, opened together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from runyard.store.beside import Folders
from runyard.store.database import Database
from runyard.store.growing import Growing
from runyard.store.objects import Objects


@dataclass(frozen=True)
class Store:
    database: Database
    objects: Objects
    growing: Growing

    def __post_init__(self) -> None:
        self.database.attach(Folders(self.objects, self.growing))

    @classmethod
    def open(cls, home: Path, url: str | None = None) -> Store:
        """Open the store of a home folder; the database is the one at `url`, else `<home>/runyard.db`."""
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        database = Database.open(url or URL.create("sqlite", database=str(home.absolute() / "runyard.db")))
        return cls(database, Objects(home / "objects"), Growing(home / "growing"))

    def close(self) -> None:
        self.database.close()
