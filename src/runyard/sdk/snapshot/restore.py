"""Bringing a snapshot back from the server, as a zip with its links, run bits and empty folders."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO, cast

from runyard.contracts import manifest, pack
from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.run.file_transfer import sendable
from runyard.sdk.workspace.service import Service

HASHES_A_REQUEST = 2000
EARLIEST = (1980, 1, 1, 0, 0, 0)  # a snapshot has no times; this is the first that a zip can hold


def restore_zip(service: Service, snapshot_id: str, folder: Path | None) -> Path:
    """Write `<snapshot id>.zip` into the folder (by default, a new temporary one) and return its path."""
    if not pack.is_digest(snapshot_id):  # it becomes the name of a file, and may come from a malicious server
        raise SnapshotException(f"{snapshot_id!r} is no id of a snapshot: one is a SHA-256 in hexadecimal digits.")
    with service.stream(f"/api/snapshots/{snapshot_id}") as answer:
        text = b"".join(answer)
    if hashlib.sha256(text).hexdigest() != snapshot_id:
        raise SnapshotException(f"The list of files that the server keeps of snapshot {snapshot_id} is damaged.")
    entries = manifest.parse(text).entries
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="runyard-snapshot-"))
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{snapshot_id}.zip"
    aside = folder / f".{snapshot_id}.{os.getpid()}.zip"
    with tempfile.TemporaryDirectory(prefix="runyard-objects-") as objects:
        _fetch(service, sorted({entry.digest for entry in entries if entry.kind == manifest.FILE}), Path(objects))
        try:
            with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
                for entry in entries:
                    _add(archive, entry, Path(objects))
            os.replace(aside, place)
        finally:
            if aside.exists():
                aside.unlink()
    return place


def _fetch(service: Service, digests: list[str], objects: Path) -> None:
    for start in range(0, len(digests), HASHES_A_REQUEST):
        wanted = digests[start : start + HASHES_A_REQUEST]
        with service.stream("/api/objects/fetch", method="POST", value={"hashes": wanted}) as answer:
            for digest, _, chunks in pack.read(cast(BinaryIO, answer)):
                seen = hashlib.sha256()
                with (objects / digest).open("wb") as file:
                    for chunk in chunks:
                        seen.update(chunk)
                        file.write(chunk)
                if seen.hexdigest() != digest:
                    raise SnapshotException(
                        f"A file of the snapshot is damaged on the server's disk (object {digest}). Where the server "
                        "runs, `runyard doctor --deep` names all that are. A submit of the same folder mends it."
                    )
        lacking = [digest for digest in wanted if not (objects / digest).exists()]
        if lacking:
            raise SnapshotException(
                f"The server did not send {len(lacking)} files of the snapshot ({lacking[0]}, ...)."
            )


def _add(archive: zipfile.ZipFile, entry: manifest.Entry, objects: Path) -> None:
    name = sendable(entry.path)
    if entry.kind == manifest.FOLDER:
        member = zipfile.ZipInfo(name + "/", EARLIEST)
        member.external_attr = (stat.S_IFDIR | 0o755) << 16
        archive.writestr(member, b"")
        return
    member = zipfile.ZipInfo(name, EARLIEST)
    member.compress_type = zipfile.ZIP_DEFLATED
    if entry.kind == manifest.LINK:
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, os.fsencode(entry.target))
        return
    member.external_attr = (stat.S_IFREG | (0o755 if entry.executable else 0o644)) << 16
    member.file_size = entry.size
    with (objects / entry.digest).open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target, pack.CHUNK)
