"""Snapshots of folders for tests: what one holds, and a folder made from one again."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

from runyard.contracts import manifest
from runyard.sdk.snapshot.hashes import Hashes, Known
from runyard.sdk.snapshot.ignore import ignored_by
from runyard.sdk.snapshot.restore import restore_zip
from runyard.sdk.snapshot.tree import walk
from runyard.sdk.workspace.workspace import Workspace


def entries(folder: Path, cache: Path) -> dict[str, manifest.Entry]:
    tree = walk(folder, ignored_by(folder))
    with Hashes(folder, Known(cache, folder)) as hashes:
        return {entry.path: entry for entry in manifest.make([*tree.entries, *hashes.entries(tree)]).entries}


def unpack(workspace: Workspace, snapshot_id: str, target: Path) -> Path:
    """The folder again, links and modes included."""
    with zipfile.ZipFile(restore_zip(workspace.service, snapshot_id, target)) as archive:
        for member in archive.infolist():
            place = target / "folder" / member.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                place.symlink_to(archive.read(member).decode())
            elif stat.S_ISDIR(mode):
                place.mkdir(exist_ok=True)
            else:
                place.write_bytes(archive.read(member))
                place.chmod(mode & 0o777)
    return target / "folder"
