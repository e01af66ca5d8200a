"""Uploads and downloads of datastores as SDK v1 does them: which files, what is skipped, what is printed."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from runyard.contracts.data import datastores as contract
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.progress import progress
from runyard.sdk.workspace.service import sdk_exception

if TYPE_CHECKING:
    from runyard.client.datastore_files import Remote, Upload
    from runyard.sdk.datastore.abstract_datastore import AbstractDatastore


def remote(datastore: AbstractDatastore) -> Remote:
    from runyard.client.datastore_files import Remote

    return Remote(datastore.workspace.service.client, datastore.workspace.name, datastore.name)


def of_folder(src_dir: str, target_path: str | None) -> list[Upload]:
    """The files of a folder and where they go: its content, without its own name."""
    from runyard.client.datastore_files import Upload

    root = Path(src_dir) if isinstance(src_dir, (str, os.PathLike)) else None
    if root is None or not root.is_dir():
        raise UserErrorException(f"{src_dir!r} is no folder: upload takes a folder, upload_files takes files.")
    found = []
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            place = Path(folder) / name
            if place.is_file():
                found.append(Upload(place, _target(target_path, place.relative_to(root).as_posix())))
    return sorted(found, key=lambda each: each.path)


def of_files(files: Sequence[str], relative_root: str | None, target_path: str | None) -> list[Upload]:
    """Files and where they go: at their paths below the root, by default the folder that all of them share."""
    from runyard.client.datastore_files import Upload

    if isinstance(files, (str, bytes)) or not all(isinstance(each, (str, os.PathLike)) for each in files):
        raise UserErrorException("upload_files takes a list of paths: upload_files(['./a.csv', './b.csv']).")
    places = [os.path.abspath(each) for each in files]
    for place, given in zip(places, files):
        if not os.path.isfile(place):
            raise UserErrorException(f"{str(given)!r} is no file.")
    if not places:
        return []
    folders = [os.path.dirname(place) for place in places]
    root = os.path.abspath(relative_root) if relative_root is not None else os.path.commonpath(folders)
    found = []
    for place, given in zip(places, files):
        if os.path.commonpath([root, place]) != root:
            raise UserErrorException(f"{str(given)!r} is not below the relative_root {relative_root!r}.")
        found.append(Upload(Path(place), _target(target_path, Path(place).relative_to(root).as_posix())))
    return found


def upload(remote: Remote, files: Sequence[Upload], overwrite: bool, show_progress: bool) -> int:
    """Write files that are not there yet, or all of them; returns how many were written."""
    from runyard.client.data.problem import TransferProblem
    from runyard.client.http import ClientProblem

    say = _printed if show_progress else _silent
    wanted = {each.path: each for each in files}  # a path that two files have is written once
    counted = _Counted(len(wanted))
    say(f"Uploading an estimated {len(wanted)} files")
    try:
        there = set() if overwrite or not wanted else remote.existing(wanted)
        for path in sorted(there):
            counted.total -= 1
            say(f"{path} is there already, and is skipped")
        left = [each for path, each in wanted.items() if path not in there]
        with progress(f"to {remote.name}", sum(each.source.stat().st_size for each in left)) as advance:
            remote.put(left, advance, lambda each: say(f"Uploaded {each.source}, {counted.next()}"))
    except TransferProblem as problem:
        raise UserErrorException(str(problem), inner_exception=problem) from None
    except ClientProblem as refusal:
        raise sdk_exception(refusal) from None
    except OSError as error:
        raise UserErrorException(f"The files cannot be read: {error}") from error
    say(f"Uploaded {counted.done} files")
    return counted.done


class Downloaded(NamedTuple):
    """How many files were copied, and how many were meant: the others were there already."""

    files: int
    meant: int


def download(remote: Remote, target: Path, prefix: str | None, overwrite: bool, show_progress: bool) -> Downloaded:
    """Copy files to below a folder, at their whole paths in the datastore."""
    from runyard.client.data.problem import TransferProblem
    from runyard.client.http import ClientProblem

    say = _printed if show_progress else _silent
    try:
        found = _with_prefix(remote, prefix or "")
        wanted = [each for each in found if overwrite or not (target / each["path"]).exists()]
        counted = _Counted(len(wanted))
        say(f"Downloading an estimated {len(wanted)} files")
        for each in wanted:
            _check_inside(each["path"])
        with progress(f"from {remote.name}", sum(int(each["size"] or 0) for each in wanted)) as advance:
            remote.get(wanted, target.absolute(), advance, lambda path: say(f"Downloaded {path}, {counted.next()}"))
    except TransferProblem as problem:
        raise UserErrorException(str(problem), inner_exception=problem) from None
    except ClientProblem as refusal:
        raise sdk_exception(refusal) from None
    except OSError as error:
        raise UserErrorException(f"The files cannot be written below {target}: {error}") from error
    say(f"Downloaded {counted.done} files")
    return Downloaded(counted.done, len(found))


def _with_prefix(remote: Remote, prefix: str) -> list[dict[str, Any]]:
    """A prefix is the beginning of a path, and need not end at a '/'."""
    wanted = prefix.lstrip("/")
    while wanted.startswith("./"):
        wanted = wanted[2:]
    folder = wanted.rpartition("/")[0]
    return [each for each in remote.files(folder, addresses=True) if each["path"].startswith(wanted)]


def _check_inside(path: str) -> None:
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        raise UserErrorException(f"The file {path!r} of the datastore would leave its folder, and is not downloaded.")


def _target(target_path: str | None, name: str) -> str:
    """The path in the datastore; what leads upwards at the beginning of a target is left out, as SDK v1 does."""
    parts = (target_path or "").replace("\\", "/").split("/")
    while parts and parts[0] in ("", ".", ".."):
        parts.pop(0)
    try:
        return contract.check_path("/".join([*parts, name]))
    except contract.BadDatastore as error:
        raise UserErrorException(str(error)) from None


class _Counted:
    """How many files of how many are done; several threads count."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._lock = threading.Lock()

    def next(self) -> str:
        with self._lock:
            self.done += 1
            return f"{self.done} files out of an estimated total of {self.total}"


def _printed(line: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"  # of a file name whatever it can show
    print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def _silent(line: str) -> None:
    return None
