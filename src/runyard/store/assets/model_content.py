"""What is in a model: a tree with one entry at its top, made of files of a run or of a snapshot that was sent.

Both become a snapshot's manifest, so that a model's files are stored, checked, fetched and freed as all others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from runyard.contracts import manifest, names
from runyard.contracts.manifest import FILE, Entry, Manifest
from runyard.store import after_commit
from runyard.store.content import files, snapshots
from runyard.store.content.files import FileEntry
from runyard.store.errors import NotFound, Refused

SHOWN = 20
"""Files that a refusal lists."""


@dataclass(frozen=True)
class Content:
    """A tree of files. `root` is the one entry at its top, `folder` whether that is a folder."""

    tree: str
    root: str
    folder: bool
    size: int
    files: int


def of_run(connection: Connection, run_id: str, path: str) -> Content:
    """The file or folder of a run's history as the content of a model: nothing is copied, rows name the same objects.

    Its last component is kept: `outputs/model` becomes `model/...`. NotFound `model_path_not_found` lists the files.
    """
    place = _normal(path)
    found = _below(connection, run_id, place) if place else []
    if not found:
        raise _nothing_there(run_id, path, [entry.name for entry in files.find(connection, run_id)])
    growing = [entry.name for entry in found if entry.digest is None]
    if growing:
        raise Refused(
            "bad_model",
            f"{growing[0]!r} of the run {run_id!r} is still being written, so it cannot be part of a model.",
            "Register when the run has ended, or write what the model needs to another file.",
            {"files": growing[:SHOWN]},
        )
    top, root = place.rpartition("/")[0], place.rpartition("/")[2]
    cut = len(top) + 1 if top else 0
    places = names.on_disk(entry.name[cut:] for entry in found)
    made = manifest.make(Entry(places[entry.name[cut:]], FILE, str(entry.digest), entry.size) for entry in found)
    return _stored(connection, made, root)


def of_snapshot(connection: Connection, id: str) -> Content:
    """A snapshot that was sent, as the content of a model. NotFound `snapshot_not_found` when it was not."""
    made = manifest.parse(snapshots.manifest_text(connection, id))
    tops = sorted({entry.path.partition("/")[0] for entry in made.entries})
    if len(tops) != 1:
        raise Refused(
            "bad_model",
            f"A model has one file or folder at its top, not {len(tops)}: {', '.join(tops[:5]) or 'it is empty'}.",
            "Put what belongs to the model into one folder, and send that.",
        )
    return _stored(connection, made, tops[0])


def entry(connection: Connection, tree: str, path: str) -> Entry:
    """One file of a tree, by its path from the top."""
    for each in manifest.parse(snapshots.manifest_text(connection, tree)).entries:
        if each.path == path and each.kind == FILE:
            return each
    raise NotFound("file_not_found", f"The model has no file {names.shown(path)}.", "Its manifest lists its files.")


def _stored(connection: Connection, made: Manifest, root: str) -> Content:
    contents = [entry for entry in made.entries if entry.kind == FILE]
    if not contents:
        raise Refused(
            "bad_model", f"There is no file in {root!r}, so it is no model.", "Save the model before you register it."
        )
    snapshots.create(connection, made)
    # Also where the tree is known: what its rows name may be gone from the disk, and this is the moment to say so.
    after_commit.effects(connection).named.update({entry.digest: entry.size for entry in contents})
    folder = any(entry.path != root for entry in made.entries)
    return Content(made.id, root, folder, sum(entry.size for entry in contents), len(contents))


def _normal(path: str) -> str:
    """The path as the history has it; empty for one that no file can have, such as `..` or `/model`."""
    try:
        return names.check_file(path)
    except names.BadName:
        return ""


def _below(connection: Connection, run_id: str, place: str) -> list[FileEntry]:
    """The file of that name, or all below the folder of that name."""
    return [
        entry
        for entry in files.find(connection, run_id, place)
        if entry.name == place or entry.name.startswith(f"{place}/")
    ]


def _nothing_there(run_id: str, path: str, known: Sequence[str]) -> NotFound:
    listed = ", ".join(known[:SHOWN])
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return NotFound(
        "model_path_not_found",
        f"The run {run_id!r} has neither a file nor a folder {names.shown(path)}.",
        f"It has {listed}{more}." if known else "It has no files yet: a script keeps what it writes to ./outputs.",
        {"run": run_id, "path": path[: names.LONGEST_SHOWN], "files": list(known[:1000])},
    )
