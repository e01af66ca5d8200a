"""Folders of any depth: made, walked through and removed without recursion.

A script may nest folders as deep as it likes. What the standard library does with them (`os.makedirs`, `os.walk`,
`shutil.rmtree`, before Python 3.12 or 3.13) ends in a RecursionError after some thousand levels.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Callable, Iterator, List, Tuple

Place = Tuple[str, List[str], List[str]]

LONG = 900  # characters of a path, each of up to four bytes: with one more name it is below the system's limit


def make(folder: str) -> None:
    """Make a folder and its missing parents."""
    missing = []
    above = folder
    while above and not os.path.isdir(above):
        missing.append(above)
        above = os.path.dirname(above)
    for each in reversed(missing):
        try:
            os.mkdir(each)
        except FileExistsError:
            if not os.path.isdir(each):
                raise


def walk(folder: str) -> Iterator[Place]:
    """Each folder with the names of the folders and of the files in it, from the top down, as `os.walk` does: links to
    folders are listed and not entered, and what cannot be listed is skipped."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        links = set()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if _is_folder(entry):
                        folders.append(entry.name)
                        if entry.is_symlink():
                            links.add(entry.name)
                    else:
                        files.append(entry.name)
        except OSError:
            continue
        yield place, folders, files
        waiting.extend(os.path.join(place, name) for name in reversed(folders) if name not in links)


def remove(folder: Path, failed: Callable[[str, OSError], None] = lambda path, error: None) -> None:
    """Delete a folder with its content. Permissions of closed folders are changed where needed; what cannot be deleted
    nevertheless is reported to `failed`. Another process may be doing the same at the same time."""
    top = str(folder)
    if os.path.islink(top):
        failed(top, OSError(f"{top} is a link"))
        return
    aside = os.path.join(top, f".{os.urandom(4).hex()}-")
    waiting, moved = [(top, False)], 0
    while waiting:
        place, is_empty = waiting.pop()
        if is_empty:
            _try(os.rmdir, top if place == top else os.path.dirname(place), failed, place)
            continue
        waiting.append((place, True))
        for path, is_folder in _content(place, failed):
            target = path
            if is_folder and len(path) > LONG:
                # To the top, so that no path exceeds the system's limit, however deep the folder was.
                moved += 1
                target = f"{aside}{moved}"
                if not _try(os.rename, place, failed, path, target):
                    continue
            if is_folder:
                waiting.append((target, False))
            else:
                _try(os.unlink, place, failed, path)


def _content(place: str, failed: Callable[[str, OSError], None]) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []

    def look(path: str) -> None:
        with os.scandir(path) as entries:
            found.extend((entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries)

    _try(look, place, failed, place)
    return found


def _try(
    function: Callable[..., object], parent: str, failed: Callable[[str, OSError], None], path: str, *more: str
) -> bool:
    """Call `function(path, ...)`; without permission, once more after the folders were opened."""
    try:
        try:
            function(path, *more)
        except PermissionError:
            for each in (parent, path):
                if not os.path.islink(each):
                    os.chmod(each, os.stat(each).st_mode | stat.S_IRWXU)
            function(path, *more)
    except FileNotFoundError:
        return False
    except OSError as error:
        failed(path, error)
        return False
    return True


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
