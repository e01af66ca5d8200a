"""The files of a datastore, whatever it is: listed, read, written, and reached by others. One class per sort of place.

Paths are those of the datastore: with '/', without one at either end, checked (`contracts.data.datastores.check_path`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from runyard.contracts.data import datastores as contract
from runyard.server.middleware.problems import Problem
from runyard.store.assets.datastores import Datastore
from runyard.store.content.secrets import SecretMissing, Secrets

SIGNED_FOR = 6 * 3600
"""Seconds for which an address is signed: longer than a transfer takes, and gone with the day."""


class Stored(NamedTuple):
    """A file in a datastore. `etag` changes when its content does. There may be millions in a listing."""

    path: str
    size: int | None
    etag: str | None
    modified: str | None


class Whole(NamedTuple):
    """A folder of this disk whose content is just files: how many, and their names in one word."""

    folder: str
    files: int
    names: str


class Place(ABC):
    """Where the files of a datastore are. A Problem says why something cannot be done."""

    @abstractmethod
    def files(self, below: str = "", after: str | None = None, facts: bool = True) -> Iterator[Stored]:
        """The files below a folder (or the one file of that path), sorted by path, from the first one after `after`.
        Without `facts`, all but their paths may be left out."""

    @abstractmethod
    def look(self, path: str) -> Stored | None:
        """One file; None when there is none."""

    @abstractmethod
    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        """The bytes of a file from `start` to before `end`, in pieces."""

    @abstractmethod
    def take(self, path: str, source: Path) -> None:
        """Make a file of the datastore out of one on this disk, whole or not at all. `source` may be moved away."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file; none is there afterwards, whether there was one or not."""

    def local(self, path: str) -> str | None:
        """Where a file is, or would be, on the disk of the server's machine; None when it is elsewhere."""
        return None

    def whole(self, below: str = "") -> Whole | None:
        """The folder on this disk whose content is just the files below a folder; None when it has more than those, or
        is elsewhere."""
        return None

    def addresses(self, paths: Sequence[str], method: str = "GET") -> list[str | None]:
        """Addresses by which anybody may read (GET) or write (PUT) these files for some hours; None where there is
        none, so that the server has to do it."""
        return [None] * len(paths)

    def known_as(self, path: str) -> str | None:
        """What a file is known by wherever it is read, without a signature that changes; None when its path on the
        disk or its address is that."""
        return None

    def headers(self, method: str) -> Mapping[str, str]:
        """What a request to such an address has to carry."""
        return {}


def open_place(datastore: Datastore, home: Path, workspace: str, secrets: Secrets) -> Place:
    """The place of a datastore. Nothing is asked of it yet."""
    settings = datastore.settings
    if datastore.own:
        from runyard.server.data.folder_place import FolderPlace

        return FolderPlace(datastore.name, own_folder(home, workspace, datastore.name), make=True)
    if datastore.kind in (contract.FOLDER, contract.SHARED_FOLDER, contract.AZURE_FILE) and "path" in settings:
        from runyard.server.data.folder_place import FolderPlace

        return FolderPlace(datastore.name, Path(settings["path"]))
    if datastore.kind == contract.WEB:
        from runyard.server.data.web_place import WebPlace

        return WebPlace(datastore.name, settings["url"])
    if datastore.kind in (contract.S3, contract.GCS, contract.AZURE_BLOB, contract.GEN2):
        from runyard.server.data.object_place import open_object_place

        try:
            values = {key: secrets.value(name) for key, name in datastore.secrets.items()}
        except SecretMissing:
            raise Problem(
                "datastore_unreachable",
                f"The credentials of the datastore {datastore.name!r} are not on the server's disk any more.",
                "Register it again with overwrite=True.",
            ) from None
        return open_object_place(datastore.name, datastore.kind, settings, values)
    if datastore.kind == contract.AZURE_FILE:
        help = "Mount the share on the machines, and register it with the path where it is mounted: `runyard datastore "
        help += f"add {datastore.name} azure_file --set path=/mnt/share ... --overwrite`."
        raise _no_files(datastore, help)
    raise _no_files(datastore, "Keep files in a folder, in S3, Google Cloud Storage or Azure Blob Storage.")


def own_folder(home: Path, workspace: str, name: str) -> Path:
    """The folder of a datastore that every workspace has."""
    return home / "datastores" / workspace / name


def _no_files(datastore: Datastore, help: str) -> Problem:
    says = contract.KINDS[datastore.kind].says
    title = f"Runyard does not read or write the files of the datastore {datastore.name!r}, which is {says}."
    return Problem("bad_datastore", title, help)
