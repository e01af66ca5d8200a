"""Getting a run's snapshot to where it can be laid out: the manifest, and the objects that it names.

Where the folder of the object store can be read directly nothing is sent; elsewhere both come over HTTP.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Callable, cast

from runyard.contracts import manifest as manifests
from runyard.contracts import pack
from runyard.contracts.manifest import Manifest
from runyard.node.prepare.layout import SENT_ANEW, object_path
from runyard.node.problem import RunProblem

if TYPE_CHECKING:
    from runyard.client.http import Stream
    from runyard.node.delivery.retrying_client import RetryingClient

OBJECTS_PER_REQUEST = 1000


def local_manifest(folder: Path, snapshot_id: str, text: str | None = None) -> Manifest | None:
    """The manifest that the engine put into the plan, as `text`, or into the run's folder; None when it did not."""
    if text is not None:
        return _checked(text.encode("utf-8"), snapshot_id)
    return _in_folder(folder, snapshot_id)


def _in_folder(folder: Path, snapshot_id: str) -> Manifest | None:
    try:
        text = (folder / "manifest").read_bytes()
    except FileNotFoundError:
        return None
    return _checked(text, snapshot_id)


def fetch_manifest(client: RetryingClient, snapshot_id: str) -> Manifest:
    path = f"/api/snapshots/{snapshot_id}"
    text = client.stream("GET", path, None, lambda response: response.read())
    return _checked(text, snapshot_id)


def fetch_objects(client: RetryingClient, manifest: Manifest, objects: Path, check: Callable[[], None]) -> None:
    """Bring what the manifest names into the folder `objects`, each object whole or not at all."""
    fetch_digests(client, {entry.digest for entry in manifest.entries if entry.kind == manifests.FILE}, objects, check)


def fetch_digests(client: RetryingClient, digests: set[str], objects: Path, check: Callable[[], None]) -> None:
    """Bring objects by their hashes into the folder `objects`."""
    wanted = sorted(digests)
    for start in range(0, len(wanted), OBJECTS_PER_REQUEST):
        some = wanted[start : start + OBJECTS_PER_REQUEST]
        client.stream(
            "POST", "/api/objects/fetch", {"hashes": some}, lambda response: _unpack(response, objects, check)
        )


def _checked(text: bytes, snapshot_id: str) -> Manifest:
    try:
        manifest = manifests.parse(text)
    except manifests.BadManifest as error:
        raise _damaged(str(error)) from error
    if hashlib.sha256(text).hexdigest() != snapshot_id:
        raise _damaged(f"the manifest that came is not that of snapshot {snapshot_id}")
    return manifest


def _unpack(stream: Stream, objects: Path, check: Callable[[], None]) -> None:
    try:
        for digest, _, chunks in pack.read(cast(BinaryIO, stream)):  # it has what is needed of one
            check()
            path = object_path(objects, digest)
            path.parent.mkdir(parents=True, exist_ok=True)
            aside = path.with_suffix(".part")
            seen = hashlib.sha256()
            with open(aside, "wb") as file:
                for chunk in chunks:
                    seen.update(chunk)
                    file.write(chunk)
            if seen.hexdigest() != digest:
                raise _damaged(f"object {digest} has other bytes than its hash says")
            aside.replace(path)
    except pack.BadPack as error:
        raise ConnectionError(str(error)) from error


def _damaged(reason: str) -> RunProblem:
    return RunProblem("SnapshotIncomplete", f"The snapshot of the run is damaged: {reason}.", SENT_ANEW)
