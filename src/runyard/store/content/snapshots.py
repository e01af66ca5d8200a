"""Snapshots: manifests of folders, and the objects that they name."""

from __future__ import annotations

import zlib
from datetime import datetime, timezone

from sqlalchemy import Connection, bindparam, insert, select

from runyard.contracts.manifest import FILE, Manifest
from runyard.store import after_commit
from runyard.store.errors import NotFound
from runyard.store.prepared import Prepared
from runyard.store.store import Store
from runyard.store.tables import runs, snapshot_objects, snapshots

INCOMPLETE = "SnapshotIncomplete"
"""The code of the error with which a node runner ends a run whose snapshot it could not lay out."""

_LAST_ERROR = Prepared(
    select(runs.c.error).where(runs.c.snapshot_id == bindparam("id")).order_by(runs.c.serial.desc()).limit(1)
)
_MANIFEST = Prepared(select(snapshots.c.manifest).where(snapshots.c.id == bindparam("id")))


def has(connection: Connection, id: str) -> bool:
    return connection.scalar(select(snapshots.c.serial).where(snapshots.c.id == id)) is not None


def is_doubtful(connection: Connection, id: str) -> bool:
    """Whether the last run of a snapshot failed because its content was damaged or not there."""
    error = _LAST_ERROR.scalar(connection, {"id": id})
    return isinstance(error, dict) and error.get("code") == INCOMPLETE


def missing(store: Store, manifest: Manifest, thorough: bool = False) -> list[str]:
    """The objects of a manifest that are not there whole, each once, in the manifest's order. A thorough look reads
    them all: one whose bytes have changed is missing as well."""
    return [
        digest
        for digest, size in _objects(manifest).items()
        if not store.objects.has(digest, size) or (thorough and not store.objects.is_sound(digest))
    ]


def create(connection: Connection, manifest: Manifest) -> None:
    """Store a snapshot. Conflict `objects_missing` at the transaction's end if an object is not there."""
    id = manifest.id
    if has(connection, id):
        return
    serial = connection.scalar(
        insert(snapshots)
        .values(
            id=id,
            manifest=zlib.compress(manifest.text, 1),
            size=manifest.size,
            created_at=datetime.now(timezone.utc),
        )
        .returning(snapshots.c.serial)
    )
    objects = _objects(manifest)
    if objects:
        connection.execute(
            insert(snapshot_objects), [{"snapshot": serial, "digest": digest} for digest in sorted(objects)]
        )
        after_commit.effects(connection).named.update(objects)


def manifest_text(connection: Connection, id: str) -> bytes:
    """The manifest as it was sent."""
    packed = _MANIFEST.scalar(connection, {"id": id})
    if packed is None:
        raise _not_found(id)
    return zlib.decompress(packed)


def digests(connection: Connection, id: str) -> set[str]:
    """The objects that a snapshot names."""
    serial = connection.scalar(select(snapshots.c.serial).where(snapshots.c.id == id))
    if serial is None:
        raise _not_found(id)
    return set(connection.scalars(select(snapshot_objects.c.digest).where(snapshot_objects.c.snapshot == serial)))


def _objects(manifest: Manifest) -> dict[str, int]:
    return {entry.digest: entry.size for entry in manifest.entries if entry.kind == FILE}


def _not_found(id: str) -> NotFound:
    return NotFound("snapshot_not_found", f"There is no snapshot {id!r}.", "Send it first (PUT /api/snapshots/<id>).")
