"""The files of a folder by their names alone: what tells, without a look at any file, whether the links that were made
to all of them are still all. Server and nodes work it out alike.
"""

from __future__ import annotations

import hashlib
import os
from typing import Callable, Iterator

from runyard.contracts.data.datastores import PART


class NotOnlyFiles(Exception):
    """A folder has something that no dataset shows: a link, a pipe, a file that is being written."""


class Names:
    """What was seen of a folder: how many files, and all their names in one word."""

    def __init__(self) -> None:
        self.files = 0
        self._hash = hashlib.blake2b(digest_size=20)

    def walk(self, root: str) -> Iterator[tuple[str, list[str]]]:
        """Each folder that has files, by its path below the root ('' for that itself), with their names. OSError when
        one cannot be read, NotOnlyFiles when there is something else."""
        left = [""]
        while left:
            below = left.pop()
            prefix = f"{below}/" if below else ""
            names, folders = [], []
            with os.scandir(f"{root}/{below}") as entries:
                for each in entries:
                    name = each.name
                    if each.is_dir(follow_symlinks=False):
                        folders.append(prefix + name)
                    elif each.is_file(follow_symlinks=False) and not (name[0] == "." and PART.fullmatch(name)):
                        names.append(name)
                    else:
                        raise NotOnlyFiles(each.path)
            left += sorted(folders, reverse=True)
            if names:
                names.sort()
                self.files += len(names)
                self._hash.update(os.fsencode(f"{below}\0{'/'.join(names)}\0"))
                yield below, names

    @property
    def value(self) -> str:
        """The same as long as there are files of the same names, once the walk has come to its end."""
        return self._hash.hexdigest()


def may_be_added_to(root: str, check: Callable[[], None] = lambda: None) -> bool:
    """Whether this user can make files in a folder, or in one within it. OSError when one cannot be read; `check` is
    called often, and may raise to give up."""
    left = [root]
    while left:
        folder = left.pop()
        check()
        if os.access(folder, os.W_OK):
            return True
        with os.scandir(folder) as entries:
            left += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
    return False
