"""Walking a folder that is to become a snapshot: files, links, empty folders. Reads names and stats, no contents."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from runyard.contracts import home as homes
from runyard.contracts import manifest
from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.snapshot.ignore import Ignored
from runyard.system.records import field, record


class Found(NamedTuple):
    """A file, with what shows whether it has changed."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    executable: bool

    @staticmethod
    def of(path: str, status: os.stat_result) -> Found:
        executable = bool(status.st_mode & stat.S_IXUSR)
        return Found(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, executable)


@record()
class Tree:
    """What a walk found. `entries` are the links and the empty folders, which are complete as they are."""

    root: Path
    files: list[Found] = field(default_factory=list)
    entries: list[manifest.Entry] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # with the reason, for the user

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def walk(root: Path, ignored: Ignored) -> Tree:
    """All that belongs to the snapshot of a folder. Runyard's own home folder does not: it holds tokens and secrets."""
    tree = Tree(root)
    real_root = os.path.realpath(root)
    own = os.path.realpath(homes.home())
    waiting = [""]
    while waiting:
        below = waiting.pop()
        taken = 0
        for entry in _listed(root, below):
            path = below + entry.name
            if "\\" in entry.name or path.isspace():
                if not ignored(path):
                    tree.left_out.append(f"{path!r} (a name with a backslash, or of blanks only)")
            elif entry.is_symlink():
                if not (ignored(path) or ignored(path + "/")):
                    _link(tree, path, entry.path, real_root)
                    taken += 1
            elif entry.is_dir(follow_symlinks=False):
                if not ignored(path + "/"):
                    taken += 1
                    if os.path.join(real_root, path) == own:
                        tree.left_out.append(f"{path} (the files of Runyard itself)")
                    else:
                        waiting.append(path + "/")
            elif not ignored(path):
                taken += 1
                if entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # it was there a moment ago
                        tree.files.append(Found.of(path, entry.stat(follow_symlinks=False)))
                else:
                    tree.left_out.append(f"{path} (a socket, a pipe or a device)")
        if below and not taken:
            tree.entries.append(manifest.Entry(below[:-1], manifest.FOLDER))
    return tree


def _listed(root: Path, below: str) -> list[os.DirEntry[str]]:
    folder = os.path.join(root, below)
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []  # it was there a moment ago
    except OSError as error:
        raise unreadable(folder, error) from error


def _link(tree: Tree, path: str, place: str, real_root: str) -> None:
    """A link stays a link when its target is in the folder, or missing. A file elsewhere is included."""
    target = os.readlink(place)
    try:
        status = os.stat(place)
    except OSError:  # broken, or a loop
        tree.entries.append(manifest.Entry(path, manifest.LINK, target=target))
        return
    reached = os.path.realpath(place)
    if reached == real_root or reached.startswith(real_root.rstrip(os.sep) + os.sep):
        tree.entries.append(manifest.Entry(path, manifest.LINK, target=_relative(path, target, reached, real_root)))
    elif stat.S_ISREG(status.st_mode):
        tree.files.append(Found.of(path, status))
    else:
        tree.left_out.append(f"{path} (a link to {reached}, which lies outside the folder)")


def _relative(path: str, target: str, reached: str, real_root: str) -> str:
    """The link's own target where it is valid elsewhere too; else the path to the same place within the folder."""
    parent = os.path.dirname(path)
    direct = os.path.normpath(os.path.join(parent, target))
    if not os.path.isabs(target) and direct != ".." and not direct.startswith("../"):
        return target
    return os.path.relpath(reached, os.path.join(real_root, parent))


def unreadable(path: str, error: OSError) -> SnapshotException:
    return SnapshotException(
        f"Runyard cannot read {path} ({error.strerror}), so the folder cannot be sent. Make it readable, or leave it "
        "out: write its name into a file .amlignore at the top of the folder.",
        inner_exception=error,
    )
